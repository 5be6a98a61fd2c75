/** Copies everything from one store to another: from a data folder into a database, and back. */
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

/** More than any user or session has. */
const MOST = 1_000_000;

type Copied = {
  sessions: number;
  events: number;
  users: number;
  keys: number;
  preferences: number;
  /** share links */
  shares: number;
  /** documents, such as the stored setup and the prices */
  settings: number;
  /** the stored setup is encrypted with a secret that is not known, and was not copied */
  unreadable: boolean;
};

/**
 * Sessions are checked before anything is written: throws `invalid` if the target has a different one of the same name.
 * What the target has already stays as it is, so copying again only adds what is new.
 */
export async function copyAll(from: Storage, to: Storage): Promise<Copied> {
  await checkSessions(to, sessionsOf(from));
  const copied: Copied = {
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
      if ((await to.apiKeys.find(key.id)) === null && (await to.apiKeys.add(key, MOST)) === 'added')
        copied.keys++;
    for (const pairing of await from.pairings.list(user.name)) await to.pairings.add(pairing);
  }
  // Those of open mode, unless the target has its own: one that was revoked there stays revoked.
  if ((await to.pairings.list(null)).length === 0)
    for (const pairing of await from.pairings.list(null)) await to.pairings.add(pairing);
  for await (const session of sessionsOf(from)) {
    owners.add(session.ref.owner);
    if (!(await writeSession(to, session))) continue;
    copied.sessions++;
    copied.events += session.events.length;
    copied.shares += await copyShares(from, to, session.ref);
  }
  // Otherwise a token that was revoked is good again where both use the same AUTH_SECRET.
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

/** Only of a session that is copied, too: a link that was revoked at the target stays revoked. */
async function copyShares(from: Storage, to: Storage, ref: SessionRef): Promise<number> {
  let added = 0;
  for (const share of await from.shares.list(ref))
    if ((await to.shares.add(share, MOST)) === 'added') added++;
  return added;
}

/** As an export would contain them: read and checked in the same way. */
const sessionsOf = (store: Storage): AsyncGenerator<ReadSession> =>
  readSessions(linesOf(store), (ref) => ref);

async function* linesOf(store: Storage): AsyncGenerator<string> {
  for await (const record of everySession(store, undefined))
    for await (const text of exportedLines(record, (after, limit) => store.read(record.ref, after, limit)))
      yield* text.trimEnd().split('\n');
}
