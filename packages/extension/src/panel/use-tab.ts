/** The tab that the panel works on. */
import { useEffect, useState } from 'react';
import { siteOf } from '../shared/sites.ts';

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
