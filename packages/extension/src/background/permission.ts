/** Asks the person, and remembers what was allowed. Answers come from the panel through the storage. */

import { isOwnServer } from '../shared/own-server.ts';
import type { ActionAsk, Ask, SiteAnswer, SiteAsk, SiteChoice } from '../shared/records.ts';
import { allowedOnce, asks, sites } from '../shared/storage.ts';

export type Verdict = 'allowed' | 'denied';

type New<One extends Ask> = Omit<One, 'answer' | 'at' | 'kind'>;

/** Whether the site may be used without a question; `null`: the person has to be asked. Nobody can allow our own server. */
export async function siteVerdict(site: string, allowedHere: readonly string[]): Promise<Verdict | null> {
  if (await isOwnServer(site)) return 'denied';
  const permission = (await sites.get())[site];
  if (permission === 'never') return 'denied';
  if (permission === 'allow' || allowedHere.includes(site)) return 'allowed';
  return null;
}

/** Sites that ask are not stored. */
export const chooseSite = (site: string, choice: SiteChoice): Promise<unknown> =>
  sites.change((all) => {
    const { [site]: _, ...others } = all;
    return choice === 'ask' ? others : { ...others, [site]: choice };
  });

/** Resolves with the answer, however long it takes. `always` and `never` are remembered. */
export async function askForSite(ask: New<SiteAsk>, signal: AbortSignal): Promise<SiteAnswer> {
  const { answer } = await asked({ ...ask, kind: 'site', at: Date.now(), answer: null }, signal);
  const given = answer as SiteAnswer;
  if (given !== 'once') await chooseSite(ask.site, given === 'always' ? 'allow' : 'never');
  return given;
}

export async function askForAction(ask: New<ActionAsk>, signal: AbortSignal): Promise<Verdict> {
  const { answer } = await asked({ ...ask, kind: 'action', at: Date.now(), answer: null }, signal);
  return answer === 'allow' ? 'allowed' : 'denied';
}

/** Until the browser is closed, for browser tools. */
export const allowOnce = (site: string): Promise<unknown> =>
  allowedOnce.change((all) => (all.includes(site) ? all : [...all, site]));

/** The question is removed when it was answered or is no longer needed. */
async function asked(ask: Ask, signal: AbortSignal): Promise<Ask> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Ask>();
  const check = (all: readonly Ask[]) => {
    const found = all.find(({ id }) => id === ask.id);
    if (found?.answer) resolve(found);
  };
  const stop = asks.watch(check);
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    check(await asks.change((all) => (all.some(({ id }) => id === ask.id) ? all : [...all, ask])));
    return await promise;
  } finally {
    stop();
    signal.removeEventListener('abort', onAbort);
    await asks.change((all) => all.filter(({ id }) => id !== ask.id));
  }
}

/** The worker was suspended: questions of browser tools have nobody who waits for them. */
export const forgetAsks = (keep: (ask: Ask) => boolean): Promise<unknown> =>
  asks.change((all) => (all.every(keep) ? all : all.filter(keep)));
