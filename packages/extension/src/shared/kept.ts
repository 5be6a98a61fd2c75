/** Values in the storage of the extension, which the worker and the panel share. Page scripts cannot read them. */
import type { Ask } from './asks.ts';
import type { Connection } from './connection.ts';
import type { SitePermissions } from './sites.ts';
import type { TaskRecord } from './task-record.ts';
import type { ToolUse } from './tool-use.ts';

/** `local` outlives the browser, `session` only the worker. */
type Kept = {
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
  };
};

type Area = keyof Kept;

const DEFAULTS: Kept = {
  local: {
    connection: { status: 'none', url: 'http://127.0.0.1:3000', isNew: true },
    sites: {},
    toolsOn: true,
    unfinished: {},
  },
  session: { tasks: {}, asks: [], toolUses: [], allowedOnce: [] },
};

export type KeptValue<Value> = {
  get(): Promise<Value>;
  set(value: Value): Promise<void>;
  /** One change at a time within this context. */
  change(next: (value: Value) => Value): Promise<Value>;
  watch(changed: (value: Value) => void): () => void;
};

function kept<Where extends Area, Name extends keyof Kept[Where] & string>(
  where: Where,
  name: Name,
): KeptValue<Kept[Where][Name]> {
  type Value = Kept[Where][Name];
  const area = chrome.storage[where];
  const fallback = DEFAULTS[where][name];
  const get = async (): Promise<Value> => ((await area.get(name))[name] as Value | undefined) ?? fallback;
  const set = (value: Value): Promise<void> => area.set({ [name]: value });
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
      area.onChanged.addListener(listener);
      return () => area.onChanged.removeListener(listener);
    },
  };
}

export const connection = kept('local', 'connection');
export const sites = kept('local', 'sites');
export const toolsOn = kept('local', 'toolsOn');
export const unfinished = kept('local', 'unfinished');
export const tasks = kept('session', 'tasks');
export const asks = kept('session', 'asks');
export const toolUses = kept('session', 'toolUses');
export const allowedOnce = kept('session', 'allowedOnce');

/** Called once by the worker, before anything is stored. */
export async function closeToPages(): Promise<void> {
  await chrome.storage.local.setAccessLevel({ accessLevel: 'TRUSTED_CONTEXTS' });
}
