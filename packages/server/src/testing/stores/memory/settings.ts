import type { JsonObject } from '@parlance/protocol';
import type { StoredDocument } from '../../../accounts/store.ts';

export function memorySettings(changed: () => void) {
  const documents = new Map<string, { readonly text: string; readonly version: number }>();
  return {
    read(name: string): StoredDocument | null {
      const found = documents.get(name);
      return found ? { value: JSON.parse(found.text), version: found.version } : null;
    },
    write(name: string, value: JsonObject, expected: number): boolean {
      if ((documents.get(name)?.version ?? 0) !== expected) return false;
      documents.set(name, { text: JSON.stringify(value), version: expected + 1 });
      changed();
      return true;
    },
  };
}
