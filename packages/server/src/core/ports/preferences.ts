/** Preferences of a principal, such as a theme; opaque to the server. */
import type { JsonObject, PrincipalId } from '@parlance/protocol';

export interface PreferenceStore {
  /** Null if nothing is stored. */
  get(owner: PrincipalId): Promise<JsonObject | null>;
  /** Replaces the stored value. Durable when it resolves. */
  put(owner: PrincipalId, value: JsonObject): Promise<void>;
}
