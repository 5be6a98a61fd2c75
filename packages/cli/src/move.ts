/** Copies everything from one store to another: from a data folder to a database, or back. */
import { type PrincipalId, PrincipalId as PrincipalIdSchema } from '@parlance/protocol';
import {
  checkSessions,
  exportedLines,
  type ReadSession,
  readSessions,
  type SessionRef,
  writeSession,
} from '@parlance/server/data';
import { copySettings, type Storage } from '@parlance/server/storage';
import { everySession } from './every-session.ts';

/** Above any real number per user or session. */
const NO_LIMIT = 1_000_000;

type CopyCounts = {
  sessions: number;
  events: number;
  users: number;
  keys: number;
  preferences: number;
  /** share links */
  shares: number;
  /** documents, such as the stored setup and the prices */
  settings: number;
  /** the stored setup is encrypted with an unknown secret and was not copied */
  unreadable: boolean;
};

/**
 * Checks sessions before writing: throws `invalid` if the target has a different session of the same name.
 * Existing data of the target is kept, so copying again only adds new data.
 */
export async function copyAll(from: Storage, to: Storage): Promise<CopyCounts> {
  await checkSessions(to, sessionsOf(from));
  const copied: CopyCounts = {
    sessions: 0,
    events: 0,
    users: 0,
    keys: 0,
    preferences: 0,
    shares: 0,
    settings: 0,
    unreadable: false,
  };
  const owners = new Set<PrincipalId>([PrincipalIdSchema.parse('local')]);
  for (const user of await from.everyone()) {
    owners.add(PrincipalIdSchema.parse(user.name));
    if ((await to.find(user.name)) !== null) continue;
    await to.put(user);
    copied.users++;
    for (const key of await from.apiKeys.list(user.name))
      if ((await to.apiKeys.find(key.id)) === null && (await to.apiKeys.add(key, NO_LIMIT)) === 'added')
        copied.keys++;
    for (const pairing of await from.pairings.list(user.name)) await to.pairings.add(pairing);
  }
  // Pairings of open mode, unless the target has its own: one revoked there stays revoked.
  if ((await to.pairings.list(null)).length === 0)
    for (const pairing of await from.pairings.list(null)) await to.pairings.add(pairing);
  for await (const session of sessionsOf(from)) {
    owners.add(session.ref.owner);
    if (!(await writeSession(to, session))) continue;
    copied.sessions++;
    copied.events += session.events.length;
    copied.shares += await copyShares(from, to, session.ref);
  }
  // Otherwise a revoked token would be valid again if both use the same AUTH_SECRET.
  for (const { id, until } of await from.revocations.list()) await to.revocations.add(id, until);
  for (const owner of owners) {
    const value = await from.preferences.get(owner);
    if (value === null || (await to.preferences.get(owner)) !== null) continue;
    await to.preferences.put(owner, value);
    copied.preferences++;
  }
  const { copied: settings, unreadable } = await copySettings(from, to);
  return { ...copied, settings, unreadable };
}

/** Only shares of sessions copied now: a link revoked at the target stays revoked. */
async function copyShares(from: Storage, to: Storage, ref: SessionRef): Promise<number> {
  let added = 0;
  for (const share of await from.shares.list(ref))
    if ((await to.shares.add(share, NO_LIMIT)) === 'added') added++;
  return added;
}

/** Reads and checks sessions like an export. */
const sessionsOf = (store: Storage): AsyncGenerator<ReadSession> =>
  readSessions(linesOf(store), (ref) => ref, { resume: true });

async function* linesOf(store: Storage): AsyncGenerator<string> {
  for await (const record of everySession(store, undefined))
    for await (const text of exportedLines(record, (after, limit) => store.read(record.ref, after, limit)))
      yield* text.trimEnd().split('\n');
}
