/** Values in the storage of the extension, which the worker and the panel share. Page scripts cannot read them. */
import type { Ask, Connection, SitePermissions, TaskRecord, ToolUse } from './records.ts';

/** `local` outlives the browser, `session` only the worker. */
type StoredValues = {
  readonly local: {
    readonly connection: Connection;
    readonly sites: SitePermissions;
    /** agents in other clients may use the browser */
    readonly toolsOn: boolean;
    /** running tasks: what the user has asked for, by session */
    readonly unfinished: Readonly<Record<string, string>>;
  };
  readonly session: {
    readonly tasks: Readonly<Record<string, TaskRecord>>;
    readonly asks: readonly Ask[];
    readonly toolUses: readonly ToolUse[];
    /** sites that were allowed until the browser is closed, for browser tools */
    readonly allowedOnce: readonly string[];
    /** the listeners of the paired server, as it has announced them */
    readonly serverPorts: {
      readonly url: string;
      readonly ports: readonly number[];
      readonly at: number;
    } | null;
  };
};

type Area = keyof StoredValues;

const DEFAULTS: StoredValues = {
  local: {
    connection: { status: 'none', url: 'http://127.0.0.1:3000', isNew: true },
    sites: {},
    toolsOn: true,
    unfinished: {},
  },
  session: { tasks: {}, asks: [], toolUses: [], allowedOnce: [], serverPorts: null },
};

export type StoredValue<Value> = {
  get(): Promise<Value>;
  set(value: Value): Promise<void>;
  /** One change at a time within this context. */
  change(next: (value: Value) => Value): Promise<Value>;
  watch(changed: (value: Value) => void): () => void;
};

function storedValue<AreaName extends Area, Name extends keyof StoredValues[AreaName] & string>(
  areaName: AreaName,
  name: Name,
): StoredValue<StoredValues[AreaName][Name]> {
  type Value = StoredValues[AreaName][Name];
  // Read when it is used: tests of what does not use it have no `chrome`.
  const area = () => chrome.storage[areaName];
  const fallback = DEFAULTS[areaName][name];
  const get = async (): Promise<Value> => ((await area().get(name))[name] as Value | undefined) ?? fallback;
  const set = (value: Value): Promise<void> => area().set({ [name]: value });
  let queue: Promise<unknown> = Promise.resolve();
  return {
    get,
    set,
    change(next) {
      const changed = queue.then(async () => {
        const before = await get();
        const after = next(before);
        if (after !== before) await set(after);
        return after;
      });
      queue = changed.catch(() => undefined);
      return changed;
    },
    watch(changed) {
      const listener = (changes: Record<string, chrome.storage.StorageChange>) => {
        if (name in changes) changed((changes[name]?.newValue as Value | undefined) ?? fallback);
      };
      area().onChanged.addListener(listener);
      return () => area().onChanged.removeListener(listener);
    },
  };
}

export const connection = storedValue('local', 'connection');
export const sites = storedValue('local', 'sites');
export const toolsOn = storedValue('local', 'toolsOn');
export const unfinished = storedValue('local', 'unfinished');
export const tasks = storedValue('session', 'tasks');
export const asks = storedValue('session', 'asks');
export const toolUses = storedValue('session', 'toolUses');
export const allowedOnce = storedValue('session', 'allowedOnce');
export const serverPorts = storedValue('session', 'serverPorts');

/** Called once by the worker, before anything is stored. */
export async function restrictToExtension(): Promise<void> {
  await chrome.storage.local.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' });
}
