/** What the browser keeps for us. Where it keeps nothing (private windows, settings), it is kept until the page goes. */

const memory = new Map<string, string>();

/** `session`: until the tab is closed; `local`: until it is removed */
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
    // Full or forbidden: it is in memory.
    return;
  }
}
