/**
 * Wake-up notifications, for the time in which the bus is down: NOTIFY tells other nodes which sessions have new events. It
 * never runs inside an append, where it would hold a lock of the whole server until the flush, and is sent at most every
 * 20 ms. What gets lost is found by polling.
 */
import { SQL } from 'bun';
import { type SessionRef, sessionKey } from '../../core/ports/event-store.ts';
import type { Log } from '../../core/ports/logger.ts';
import { inTime, openDatabase } from './database.ts';

const CHANNEL = 'parlance';
const INTERVAL_MS = 20;
/** PostgreSQL refuses 8,000 bytes. */
const MOST_BYTES = 7_900;
/** stands for all sessions */
const ALL = '*';
/** A server that does not answer within this time is away, in milliseconds. */
const DEADLINE_MS = 2_500;
/** Characters of a session's tag: 60 bits, so that a tag of another session costs a read at worst. */
const TAG_LENGTH = 10;

export interface WakeUps {
  /** Other nodes are told that the session has new events. Returns at once; never throws. */
  notify(ref: SessionRef): void;
  /** Called with a test for the sessions that another node told about; this node's own are included. */
  listen(listener: (concerns: (ref: SessionRef) => boolean) => void): () => void;
  close(): Promise<void>;
}

export type WakeUpOptions = { readonly log: Log; readonly intervalMs?: number };

const tagOf = (ref: SessionRef): string =>
  new Bun.CryptoHasher('sha1').update(sessionKey(ref)).digest('base64url').slice(0, TAG_LENGTH);

/** Resolves when it listens; rejects if the database cannot be reached. */
export async function openWakeUps(
  url: string,
  { log, intervalMs = INTERVAL_MS }: WakeUpOptions,
): Promise<WakeUps> {
  const sql = new SQL(url, {
    adapter: 'postgres',
    max: 1,
    connection: { application_name: 'parlance wake-up', idle_session_timeout: 0 },
  });
  /** Connects when it is needed. A notification that is not answered must not keep back the next ones. */
  const sender = openDatabase(url, { max: 1, deadlineMs: DEADLINE_MS, name: 'parlance wake-up' });
  const listeners = new Set<(concerns: (ref: SessionRef) => boolean) => void>();
  let tags = new Set<string>();
  let timer: Timer | null = null;
  let sending = false;

  function received(payload: string): void {
    const told = new Set(payload.split(','));
    const concerns = (ref: SessionRef) => told.has(ALL) || told.has(tagOf(ref));
    for (const listener of [...listeners]) listener(concerns);
  }

  /** One at a time: what is told meanwhile goes with the next one. */
  async function send(): Promise<void> {
    timer = null;
    if (tags.size === 0) return;
    const joined = [...tags].join(',');
    tags = new Set();
    sending = true;
    try {
      const payload = joined.length > MOST_BYTES ? ALL : joined;
      await sender.query('SELECT pg_notify($1, $2)', [CHANNEL, payload]);
    } catch (error) {
      log.debug({ err: error }, 'wake-up notification failed');
    } finally {
      sending = false;
      schedule();
    }
  }

  function schedule(): void {
    if (tags.size > 0 && !sending) timer ??= setTimeout(send, intervalMs);
  }

  // Notifications that were missed while the connection was away may have concerned any session.
  let connected = false;
  const listening = sql.listen(CHANNEL, received, () => {
    if (connected) received(ALL);
    connected = true;
  });
  await inTime(listening, DEADLINE_MS, () => void sql.close({ timeout: 0 }));
  return {
    notify(ref) {
      tags.add(tagOf(ref));
      schedule();
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      listeners.clear();
      tags.clear();
      if (timer) clearTimeout(timer);
      await Promise.all([sql.close({ timeout: 0 }), sender.close()]);
    },
  };
}
