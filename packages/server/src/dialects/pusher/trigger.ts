/** Triggers events on an external Pusher or Sockudo server, one after another, in the background. */
import type { Log } from '../../core/index.ts';
import { sleep } from '../../lib/sleep.ts';
import type { ChannelServer } from '../kit/channel-bus.ts';
import { encodedData } from './contract.ts';
import { type Credentials, signedQuery } from './signature.ts';

export type TriggerOptions = Credentials & {
  readonly host: string;
  readonly port: number;
  readonly useTls: boolean;
  readonly appId: string;
  readonly log: Log;
  /** replaces `sleep` in tests */
  readonly pause?: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly now?: () => number;
};

export type Trigger = ChannelServer & {
  /** of the external server */
  readonly origin: string;
  /** Retries queued events once, within a second; the rest is dropped. */
  close(): Promise<void>;
};

/** If the queue is full the oldest event is dropped: newer ones matter more. */
const QUEUE_LENGTH = 1_000;
const ATTEMPTS = 5;
const FIRST_PAUSE_MS = 250;
const ATTEMPT_MS = 5_000;
const CLOSE_MS = 1_000;

type Event = { readonly channel: string; readonly name: string; readonly body: string };
type Outcome = 'done' | 'refused' | 'again';

export function openTrigger(options: TriggerOptions): Trigger {
  const { host, port, useTls, appId, log, pause = sleep, now = Date.now } = options;
  const path = `/apps/${encodeURIComponent(appId)}/events`;
  const origin = `${useTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const queue: Event[] = [];
  const closing = new AbortController();
  const givingUp = new AbortController();
  let working: Promise<void> | null = null;
  let dropped = 0;

  async function attempt({ channel, name, body }: Event): Promise<Outcome> {
    try {
      const response = await fetch(
        `${origin}${path}?${signedQuery(options, { method: 'POST', path, body }, now())}`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
          redirect: 'manual',
          signal: AbortSignal.any([givingUp.signal, AbortSignal.timeout(ATTEMPT_MS)]),
        },
      );
      await response.body?.cancel();
      if (response.ok) return 'done';
      const { status } = response;
      if (status >= 500 || status === 429 || status === 408) return 'again';
      log.warn({ status, channel, event: name }, 'external channel server refused event');
      return 'refused';
    } catch (thrown) {
      // Logs only the name of the cause: its message would contain the signed URL.
      log.debug(
        { cause: thrown instanceof Error ? thrown.name : 'unknown', channel },
        'failed to trigger event',
      );
      return 'again';
    }
  }

  async function deliver(event: Event): Promise<void> {
    for (let failures = 0; failures < ATTEMPTS; failures++) {
      if ((await attempt(event)) !== 'again') return;
      if (closing.signal.aborted) break;
      if (failures + 1 < ATTEMPTS) await pause(FIRST_PAUSE_MS * 2 ** failures, closing.signal);
    }
    log.warn(
      { channel: event.channel, event: event.name },
      'external channel server is unreachable, event dropped',
    );
  }

  async function work(): Promise<void> {
    for (let event = queue.shift(); event && !givingUp.signal.aborted; event = queue.shift()) {
      await deliver(event);
      if (dropped > 0) log.warn({ dropped }, 'dropped events: external channel server is too slow');
      dropped = 0;
    }
    working = null;
  }

  function publish(channel: string, event: string, data: unknown): void {
    if (closing.signal.aborted) return;
    const body = JSON.stringify({
      name: event,
      channels: [channel],
      data: encodedData(data),
    });
    if (queue.length >= QUEUE_LENGTH) {
      queue.shift();
      dropped++;
    }
    queue.push({ channel, name: event, body });
    working ??= work();
  }

  return {
    origin,
    publish,
    // All subscribers are on the external server.
    broadcast: publish,
    watch: () => () => undefined,
    async close() {
      closing.abort();
      const timer = setTimeout(() => givingUp.abort(), CLOSE_MS);
      await working;
      clearTimeout(timer);
    },
  };
}
