/** Named documents that admins change at run time; opaque to the store. */
import type { JsonObject } from '@parlance/protocol';

export type StoredDocument = {
  readonly value: JsonObject;
  /** number of writes, from 1 */
  readonly version: number;
};

export interface SettingsStore {
  /** Null if nothing is stored under the name. */
  read(name: string): Promise<StoredDocument | null>;
  /**
   * Replaces the document if its version is still `expected` (0: none exists); otherwise returns false.
   * Durable when it resolves; followers of the store are notified on every node.
   */
  write(name: string, value: JsonObject, expected: number): Promise<boolean>;
}
