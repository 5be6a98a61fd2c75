/** The session that is shown: its view, and what can be done with it. A new one is created with its first message. */
import type { Amount, InputMode, Part, TurnId } from '@parlance/protocol';
import {
  type ApprovalView,
  type ConnectionState,
  EMPTY,
  type LiveView,
  ParlanceError,
  type SessionHandle,
  type SessionView,
} from '@parlance/sdk';
import type { Connection } from '../connection/open.ts';
import type { Rewind } from './slash.ts';

export type ChatSettings = {
  readonly agent?: string | undefined;
  readonly domain?: string | undefined;
  readonly model?: string | null | undefined;
  readonly approval?: 'suggest' | 'auto-edit' | 'full-auto' | null | undefined;
};

export type ConversationEvents = {
  changed(): void;
  /** shows one line to the user */
  notice(text: string): void;
};

export class Conversation {
  #handle: SessionHandle | null = null;
  #live: LiveView | null = null;
  /** messages sent while a session is being opened belong to that session */
  #opening: Promise<void> = Promise.resolve();
  #unsubscribe: () => void = () => undefined;

  constructor(
    readonly connection: Connection,
    private readonly events: ConversationEvents,
    /** settings of a session that does not exist yet */
    private initialSettings: ChatSettings = {},
  ) {}

  get id(): string | null {
    return this.#handle?.id ?? null;
  }

  get view(): SessionView {
    return this.#live?.view() ?? EMPTY;
  }

  get state(): ConnectionState {
    return this.#live?.connection() ?? { status: 'live' };
  }

  /** Current settings, or those of the session to be created. */
  get settings(): ChatSettings {
    const { agent, model, approvalMode } = this.view;
    return this.#handle ? { agent: agent?.id, model, approval: approvalMode } : this.initialSettings;
  }

  /** Opens the session with this name, creating it if necessary. Shows it when `ready` resolves. */
  async open(id: string, ready: Promise<unknown> = Promise.resolve()): Promise<void> {
    const opened = Promise.all([this.prepare(id), ready]).then(([handle]) => this.#follow(handle));
    this.#opening = opened;
    await opened;
  }

  /** The next message starts a new session. */
  reset(initialSettings: ChatSettings = {}): void {
    this.close();
    this.#handle = null;
    this.#live = null;
    this.initialSettings = initialSettings;
    this.events.changed();
  }

  /**
   * Accepted when it resolves. If the connection is lost meanwhile, the server may have accepted the message: it is sent again,
   * with the same key, when the server is back. Throws if it was certainly not accepted.
   */
  async send(parts: Part[], mode: InputMode = 'queue', answers = false): Promise<void> {
    await this.#opening;
    if (!this.#handle) this.#follow(await this.prepare(null));
    const [handle, live] = [this.#handle, this.#live];
    if (!handle || !live) return;
    const key = crypto.randomUUID();
    const before = live.connection();
    const wasConnected =
      before.status === 'live' || (before.status === 'connecting' && before.failures === 0);
    for (;;) {
      try {
        // An answer, and a message that joins a turn, have no options of their own.
        const asks = !answers && mode !== 'steer' && ({ project: 'ask' } as const);
        await handle.submit(parts, { mode, key, ...(answers && { answers }), ...asks });
        return;
      } catch (error) {
        if (!wasConnected || !isLost(error) || !(await isConnected(live))) throw error;
      }
    }
  }

  /** The running turn, or only the named one, also if its message still waits. */
  async cancel(turn?: TurnId): Promise<void> {
    await this.#handle?.cancel({ turn });
  }

  async answer(approval: ApprovalView, answer: 'once' | 'always' | 'deny', reason = ''): Promise<void> {
    const { hash } = approval;
    await this.#handle?.answer(approval.approval, answer, { hash, ...(reason === '' ? {} : { reason }) });
  }

  async explain(approval: ApprovalView): Promise<void> {
    await this.#handle?.explain(approval.approval);
  }

  async compact(): Promise<void> {
    await this.#handle?.compact();
  }

  async limit(limit: Amount | null): Promise<void> {
    await this.#handle?.configure({ limit });
  }

  async clear(): Promise<void> {
    await this.#handle?.clear();
  }

  /** To before the last message, or the undo of the last rewind. Resolves with what is to say; the transcript shows the outcome. */
  async rewind(what: Rewind): Promise<string[]> {
    const { entries } = this.view;
    if (what === 'undo') {
      const last = entries.findLast((entry) => entry.kind === 'rewound' && !entry.isUndone);
      if (!this.#handle || last?.kind !== 'rewound') return ['There is no rewind to undo.'];
      await this.#handle.rewind({ undo: last.rewind });
      return [];
    }
    const last = entries.findLast((entry) => entry.kind === 'turn' && entry.input !== null);
    const to = last?.kind === 'turn' ? last.input?.input : undefined;
    if (!this.#handle || to === undefined) return ['There is no message to rewind to.'];
    if (what !== 'preview') {
      await this.#handle.rewind({ to, conversation: what === 'all' });
      return [];
    }
    const { files, more, unprotected } = await this.#handle.previewRewind({ to });
    const restored = files.filter(({ kept }) => kept === undefined);
    return [
      restored.length === 0
        ? 'No file would be restored.'
        : `Would restore ${restored.map(({ path, change }) => `${path} (${change})`).join(', ')}.`,
      ...files.flatMap(({ path, kept }) => (kept === undefined ? [] : [`Would keep ${path}: ${kept}.`])),
      ...(more > 0 ? [`${more} more files are not listed.`] : []),
      ...unprotected.map((why) => `Some calls ran without a checkpoint: ${why}.`),
      'Enter /rewind now, or /rewind files for the files alone.',
    ];
  }

  async choose(change: ChatSettings): Promise<void> {
    if (this.#handle) await configure(this.#handle, change);
    else this.initialSettings = { ...this.initialSettings, ...change };
    this.events.changed();
  }

  retryNow(): void {
    this.#live?.retryNow();
  }

  close(): void {
    this.#unsubscribe();
    this.#live?.close();
  }

  /** The session with this name, or a new one, with the wanted settings. It is not followed yet. */
  async prepare(id: string | null): Promise<SessionHandle> {
    const handle = this.connection.parlance.session(id ?? undefined);
    const { agent, domain, ...settings } = this.initialSettings;
    const exists = id !== null && (await sessionExists(handle));
    if (!exists) await this.#createIn(handle, { agent, domain });
    await configure(handle, exists ? { agent, ...settings } : settings);
    this.initialSettings = {};
    return handle;
  }

  /** In the current folder, unless the server uses another one. */
  async #createIn(handle: SessionHandle, fields: Pick<ChatSettings, 'agent' | 'domain'>): Promise<void> {
    try {
      await handle.create({ ...fields, cwd: process.cwd() });
    } catch (error) {
      if (!(error instanceof ParlanceError && error.code === 'invalid' && error.message.startsWith('cwd')))
        throw error;
      await handle.create(fields);
      this.events.notice(`The server does not work in ${process.cwd()}: tools use its own folder.`);
    }
  }

  #follow(handle: SessionHandle): void {
    this.close();
    this.#handle = handle;
    this.#live = handle.live();
    this.#unsubscribe = this.#live.subscribe(this.events.changed);
    const live = this.#live;
    void live.closed.then((error) => {
      if (error && live === this.#live) this.events.notice(error.message);
    });
  }
}

/** The response was lost, or a proxy says so. */
const isLost = (error: unknown): boolean =>
  error instanceof ParlanceError &&
  (error.code === 'unreachable' || error.status === 502 || error.status === 504);

/** Waits for the connection; false if it was closed. */
function isConnected(live: LiveView): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const look = () => {
    const { status } = live.connection();
    if (status === 'live' || status === 'closed') resolve(status === 'live');
  };
  const unsubscribe = live.subscribe(look);
  void live.closed.then(() => resolve(false));
  look();
  return promise.finally(unsubscribe);
}

async function configure(handle: SessionHandle, { agent, model, approval }: ChatSettings): Promise<void> {
  if ([agent, model, approval].every((setting) => setting === undefined)) return;
  await handle.configure({ agent, model, approval });
}

async function sessionExists(handle: SessionHandle): Promise<boolean> {
  try {
    await handle.get();
    return true;
  } catch (error) {
    if (error instanceof ParlanceError && error.code === 'not_found') return false;
    throw error;
  }
}
