/** Documents that admins change while the server runs, by name; opaque to the store. */
import type { JsonObject } from '@parlance/protocol';

export type StoredDocument = {
  readonly value: JsonObject;
  /** counts the writes, from 1 */
  readonly version: number;
};

export interface SettingsStore {
  /** Null if nothing was stored under the name. */
  read(name: string): Promise<StoredDocument | null>;
  /**
   * Replaces the document if its version is still `expected`, 0 if there is none. False otherwise. Durable when it resolves;
   * those who follow changes of the store are notified, on every node.
   */
  write(name: string, value: JsonObject, expected: number): Promise<boolean>;
}
