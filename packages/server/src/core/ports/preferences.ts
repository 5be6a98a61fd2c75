/** What a principal has chosen for itself, such as a theme. Of no meaning to the server. */
import type { JsonObject, PrincipalId } from '@parlance/protocol';

export interface PreferenceStore {
  /** Null where nothing was ever put. */
  get(owner: PrincipalId): Promise<JsonObject | null>;
  /** Replaces what was there. Durable when it resolves. */
  put(owner: PrincipalId, value: JsonObject): Promise<void>;
}
