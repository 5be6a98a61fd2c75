/**
 * Wake-up notifications while the bus is down: NOTIFY announces sessions with new events to other nodes. It
 * never runs inside an append, where it would hold a server-wide lock until the flush, and is sent at most
 * every 20 ms. Lost notifications are covered by polling.
 */
import { SQL } from 'bun';
import { type SessionRef, sessionKey } from '../../core/ports/event-store.ts';
import type { Log } from '../../core/ports/telemetry.ts';
import { Listeners } from '../../lib/listeners.ts';
import { inTime, openDatabase } from './database.ts';

const CHANNEL = 'parlance';
const INTERVAL_MS = 20;
/** PostgreSQL rejects payloads of 8,000 bytes. */
const MAX_BYTES = 7_900;
/** matches all sessions */
const ALL = '*';
/** Timeout for notifications, in milliseconds. */
const DEADLINE_MS = 2_500;
/** Length of a session's tag: 60 bits; a collision only costs a read. */
const TAG_LENGTH = 10;

export interface WakeUps {
  /** Notifies other nodes of new events in the session. Returns immediately; never throws. */
  notify(ref: SessionRef): void;
  /** Called with a predicate for the announced sessions, including this node's own. */
  listen(listener: (concerns: (ref: SessionRef) => boolean) => void): () => void;
  close(): Promise<void>;
}

export type WakeUpOptions = { readonly log: Log; readonly intervalMs?: number };

const tagOf = (ref: SessionRef): string =>
  new Bun.CryptoHasher('sha1').update(sessionKey(ref)).digest('base64url').slice(0, TAG_LENGTH);

/** Resolves once it listens; rejects if the database cannot be reached. */
export async function openWakeUps(
  url: string,
  { log, intervalMs = INTERVAL_MS }: WakeUpOptions,
): Promise<WakeUps> {
  const sql = new SQL(url, {
    adapter: 'postgres',
    max: 1,
    connection: { application_name: 'parlance wake-up', idle_session_timeout: 0 },
  });
  /** Connects on demand. A notification without a response must not block later ones. */
  const sender = openDatabase(url, { max: 1, deadlineMs: DEADLINE_MS, name: 'parlance wake-up' });
  const listeners = new Listeners<[concerns: (ref: SessionRef) => boolean]>();
  let tags = new Set<string>();
  let timer: Timer | null = null;
  let sending = false;

  function received(payload: string): void {
    const announced = new Set(payload.split(','));
    listeners.notify((ref) => announced.has(ALL) || announced.has(tagOf(ref)));
  }

  /** Sends one notification at a time; sessions announced in the meantime are sent with the next one. */
  async function send(): Promise<void> {
    timer = null;
    if (tags.size === 0) return;
    const joined = [...tags].join(',');
    tags = new Set();
    sending = true;
    try {
      const payload = joined.length > MAX_BYTES ? ALL : joined;
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

  // Notifications missed while disconnected may concern any session.
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
    listen: listeners.add,
    async close() {
      listeners.clear();
      tags.clear();
      if (timer) clearTimeout(timer);
      await Promise.all([sql.close({ timeout: 0 }), sender.close()]);
    },
  };
}
