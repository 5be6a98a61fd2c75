/** What components of the panel follow: stored values, the current tab, the view, and the worker. */

import { toast } from '@parlance/ui/components/controls.tsx';
import { readStorage, writeStorage } from '@parlance/ui/state/storage.ts';
import { store, useStore } from '@parlance/ui/state/store.ts';
import { useEffect, useState } from 'react';
import type { PanelMessage, WorkerReply } from '../panel-messages.ts';
import { siteOf } from '../shared/sites.ts';
import type { StoredValue } from '../shared/storage.ts';

/** Null until it was read. */
export function useStored<Value>(stored: StoredValue<Value>): Value | null {
  const [value, setValue] = useState<Value | null>(null);
  useEffect(() => {
    let isNewer = false;
    const stop = stored.watch((next) => {
      isNewer = true;
      setValue(next);
    });
    void stored.get().then((read) => {
      if (!isNewer) setValue(read);
    });
    return stop;
  }, [stored]);
  return value;
}

// The tab that the panel works on.

export type ShownTab = {
  readonly id: number;
  readonly title: string;
  /** null if extensions cannot work there */
  readonly site: string | null;
};

const named = Number(new URLSearchParams(location.search).get('tab')) || null;

/** The tab in front of the person: where the panel itself is a tab, the one that was shown before it. */
async function find(): Promise<ShownTab | null> {
  const tab = named === null ? await current() : await chrome.tabs.get(named).catch(() => null);
  if (tab?.id === undefined) return null;
  return { id: tab.id, title: tab.title ?? '', site: siteOf(tab.url) };
}

async function current(): Promise<chrome.tabs.Tab | null> {
  const tabs = await chrome.tabs.query({ currentWindow: true });
  const own = chrome.runtime.getURL('');
  const active = tabs.find((tab) => tab.active);
  if (active && !active.url?.startsWith(own)) return active;
  const others = tabs.filter(({ url }) => !url?.startsWith(own));
  return others.sort((one, other) => (other.lastAccessed ?? 0) - (one.lastAccessed ?? 0))[0] ?? null;
}

export function useTab(): ShownTab | null {
  const [tab, setTab] = useState<ShownTab | null>(null);
  useEffect(() => {
    const update = () => void find().then(setTab);
    const events = [chrome.tabs.onActivated, chrome.tabs.onUpdated, chrome.tabs.onRemoved] as const;
    for (const event of events) event.addListener(update);
    update();
    return () => {
      for (const event of events) event.removeListener(update);
    };
  }, []);
  return tab;
}

// What the panel shows.

export type View =
  /** null: a session that does not exist yet */
  | { readonly page: 'chat'; readonly session: string | null }
  | { readonly page: 'sessions' }
  | { readonly page: 'settings' };

const LAST = 'parlance.panel.session';

const view = store<View>({ page: 'chat', session: readStorage('session', LAST) });
export const useView = (): View => useStore(view);

export function show(next: View): void {
  if (next.page === 'chat') writeStorage('session', LAST, next.session);
  view.set(next);
}

// Sends messages to the background worker.

/** False if it was refused: the reason is shown. */
export async function sendToWorker(message: PanelMessage): Promise<boolean> {
  const reply: WorkerReply | undefined = await chrome.runtime.sendMessage(message).catch(() => undefined);
  if (reply?.ok) return true;
  toast(reply?.message ?? 'The extension did not answer. Close and open the panel again.');
  return false;
}
