/** Browser storage, with memory as a fallback if it is full or blocked (private windows). */

const memory = new Map<string, string>();

/** `session`: until the tab is closed; `local`: until removed */
type Where = 'session' | 'local';

function storageOf(where: Where): Storage | null {
  try {
    return where === 'session' ? globalThis.sessionStorage : globalThis.localStorage;
  } catch {
    return null;
  }
}

export function readStorage(where: Where, name: string): string | null {
  try {
    return storageOf(where)?.getItem(name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null;
  }
}

export function writeStorage(where: Where, name: string, value: string | null): void {
  if (value === null) memory.delete(name);
  else memory.set(name, value);
  try {
    if (value === null) storageOf(where)?.removeItem(name);
    else storageOf(where)?.setItem(name, value);
  } catch {
    // Full or blocked: memory has the value.
    return;
  }
}
