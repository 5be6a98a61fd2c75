/** Sends one message from a script: the answer goes to stdout, everything else to stderr. */
import type { DurableEvent, SessionEvent } from '@parlance/protocol';
import { writtenQuestion } from '@parlance/protocol/question-text';
import { ParlanceError, type SessionHandle, type SessionStreamEvent } from '@parlance/sdk';
import { commandLine } from '@parlance/ui/components/approval/approval.ts';
import { CommandError, printStderr } from '../command.ts';
import { type Connection, connectionError } from '../connection/open.ts';
import { LineOutput } from '../connection/stdio/lines.ts';
import { ask } from '../terminal/ask.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Approve } from './approvals.ts';
import { filesAt } from './attach.ts';
import { type ChatSettings, Conversation } from './conversation.ts';
import { callSummary } from './render.ts';

export type ScriptOptions = {
  readonly settings: ChatSettings;
  readonly session: string | null;
  readonly approve: Approve;
  readonly text: string;
  readonly files: readonly string[];
  readonly json: boolean;
};

/** A server that is unreachable for longer counts as gone. */
const AWAY_MS = 60_000;
/** Maximum time for a cancelled turn to end. */
const CANCEL_MS = 5_000;

export async function runScript(connection: Connection, options: ScriptOptions): Promise<number> {
  try {
    const run = new ScriptRun(connection, options);
    return await run.run();
  } catch (error) {
    throw connectionError(error, connection.url ?? 'the server');
  }
}

class ScriptRun {
  readonly #output: ScriptOutput;
  readonly #stop = new AbortController();
  #session: SessionHandle | null = null;
  /** exit code after an interruption */
  #interrupted: 130 | 141 | null = null;
  #turn: string | null = null;
  #input: string | null = null;

  constructor(
    private readonly connection: Connection,
    private readonly options: ScriptOptions,
  ) {
    this.#output = new ScriptOutput(options.json, () => void this.#interrupt(141));
  }

  async run(): Promise<number> {
    const signal = () => void this.#interrupt(130);
    process.on('SIGINT', signal).on('SIGTERM', signal).on('SIGHUP', signal);
    const { seq, input } = await this.#submit();
    this.#input = input;
    const code = await this.#follow(seq);
    await this.#output.end();
    return this.#interrupted ?? code;
  }

  async #submit(): Promise<{ seq: number; input: string }> {
    const { text, files, session, settings } = this.options;
    const { parts, problems } = await filesAt(files);
    const [problem] = problems;
    if (problem !== undefined) throw new CommandError(problem, 2);
    const notice = (line: string) => printStderr(`parlance: ${line}`);
    const conversation = new Conversation(this.connection, { changed: () => undefined, notice }, settings);
    const handle = await conversation.prepare(session);
    this.#session = handle;
    const receipt = await handle.submit([
      ...(text === '' ? [] : [{ type: 'text', text } as const]),
      ...parts,
    ]);
    const accepted = receipt.facts.find(
      ({ type }) => type === 'input.accepted',
    ) as DurableEvent<'input.accepted'>;
    return { seq: (receipt.facts[0]?.seq ?? receipt.seq + 1) - 1, input: accepted.input };
  }

  /** Follows the session until our turn has ended. */
  async #follow(after: number): Promise<number> {
    let away: Timer | null = null;
    const onState = ({ status }: { readonly status: string }) => {
      if (away) clearTimeout(away);
      away =
        status === 'waiting' || status === 'connecting'
          ? setTimeout(() => this.#stop.abort(), AWAY_MS)
          : null;
    };
    try {
      for await (const event of this.#handle.events({ after, signal: this.#stop.signal, onState })) {
        const code = await this.#take(event);
        if (code !== null) return code;
      }
    } finally {
      if (away) clearTimeout(away);
    }
    if (this.#interrupted !== null) return this.#interrupted;
    throw new ParlanceError('unreachable', 'The server cannot be reached.');
  }

  get #handle(): SessionHandle {
    if (!this.#session) throw new Error('no session yet');
    return this.#session;
  }

  /** The exit code if the event ends the command. */
  async #take(event: SessionStreamEvent): Promise<number | null> {
    if (event.type === 'snapshot' || event.type === 'reset') return null;
    if (event.type === 'turn.started' && event.input === this.#input) this.#turn = event.turn;
    this.#output.event(event, this.#turn);
    if (event.type === 'session.erased') return this.#failed('The session was deleted.');
    if (event.type === 'input.cancelled' && event.input === this.#input)
      return this.#failed('The message was cancelled.');
    if (!('turn' in event) || event.turn !== this.#turn) return null;
    switch (event.type) {
      case 'turn.ended':
        return event.paused ? 1 : 0;
      case 'turn.failed':
        return this.#failed(event.fault.message);
      case 'turn.cancelled':
        return this.#interrupted ?? this.#failed('The turn was cancelled.');
      case 'approval.requested':
        return this.#approve(event);
      case 'question.asked':
      case 'question.repeated':
        return this.#question(event);
      case 'call.requested':
        this.#output.pause();
        if (process.stderr.isTTY && !this.options.json)
          printStderr(
            `● ${safeLine(event.tool)} ${safeLine(callSummary({ input: event.input, approval: null }))}`,
          );
        return null;
      default:
        return null;
    }
  }

  #failed(message: string): 1 {
    printStderr(`parlance: ${safeLine(message)}`);
    return 1;
  }

  async #approve({ approval, ask, hash }: DurableEvent<'approval.requested'>): Promise<number | null> {
    const { approve } = this.options;
    const answer = approve === 'ask' ? await this.#askTerminal(ask) : approve === 'all' ? 'once' : 'deny';
    if (answer === null) {
      const { id } = this.#handle;
      printStderr(`parlance: needs approval: ${safeLine(ask.description)}`);
      printStderr(
        `parlance: answer it with parlance chat --session ${id}, or run with --approve all or never`,
      );
      return 3;
    }
    await this.#handle.answer(approval, answer, { hash });
    return null;
  }

  /** `--approve` all and never decline, so that the turn goes on. */
  async #question(asked: DurableEvent<'question.asked' | 'question.repeated'>): Promise<number | null> {
    if (this.options.approve !== 'ask') {
      await this.#handle.answerQuestion(asked.question, null);
      return null;
    }
    this.#output.pause();
    if (process.stdin.isTTY && process.stderr.isTTY) {
      printStderr(`\n${safeText(writtenQuestion(asked))}`);
      await this.#handle.submit(await ask('Answer: '), { answers: true });
      return null;
    }
    printStderr(`parlance: asks: ${safeLine(asked.questions.map(({ text }) => text).join(' '))}`);
    printStderr(
      `parlance: answer it with parlance chat --session ${this.#handle.id}, or run with --approve all or never`,
    );
    return 3;
  }

  /** Null if there is no terminal to ask on. */
  async #askTerminal(
    request: DurableEvent<'approval.requested'>['ask'],
  ): Promise<'once' | 'always' | 'deny' | null> {
    if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
    printStderr(`\nNeeds approval: ${safeText(request.description)}`);
    printStderr(
      `  ${safeText(request.patch ?? `$ ${commandLine(request.command)}`).replaceAll('\n', '\n  ')}`,
    );
    const keys = request.grant === undefined ? 'y allow once, n deny' : 'y allow once, a always, n deny';
    for (;;) {
      const answer = (await ask(`${keys}: `)).toLowerCase();
      if (answer === 'y') return 'once';
      if (answer === 'a' && request.grant !== undefined) return 'always';
      if (answer === 'n') return 'deny';
    }
  }

  /** The first interruption cancels the turn, the second one exits immediately. */
  async #interrupt(code: 130 | 141): Promise<void> {
    if (this.#interrupted !== null) process.exit(code);
    this.#interrupted = code;
    setTimeout(() => this.#stop.abort(), CANCEL_MS);
    if (!this.#session) process.exit(code);
    // The turn may have ended already, or the server may be unreachable.
    await this.#session.send(this.#cancelCommand()).catch(() => this.#stop.abort());
  }

  #cancelCommand() {
    return { type: 'turn.cancel' as const, ...(this.#turn === null ? {} : { turn: this.#turn as never }) };
  }
}

// Standard output in script mode: the streamed text of the answer, or one event per line.

class ScriptOutput {
  readonly #lines = new LineOutput(process.stdout);
  readonly #isTerminal = process.stdout.isTTY === true;
  #block: string | null = null;
  /** whether the last line is unfinished */
  #isOpen = false;

  constructor(
    private readonly json: boolean,
    /** called when the reader of stdout is gone */
    onGone: () => void,
  ) {
    void this.#lines.closed.then(onGone);
  }

  /** `turn` is the turn of the message; text of other turns is left out. */
  event(event: SessionEvent, turn: string | null): void {
    if (this.json) this.#lines.write(JSON.stringify(event));
    else if (event.type === 'text.delta' && event.turn === turn) this.#delta(event.block, event.text);
  }

  #delta(block: string, text: string): void {
    if (this.#block !== null && this.#block !== block) this.#text('\n\n');
    this.#block = block;
    this.#text(text);
  }

  /** On a terminal, starts a new line before output on stderr. */
  pause(): void {
    if (this.#isTerminal && this.#isOpen) this.#text('\n');
  }

  /** Resolves when everything has been written, or the reader is gone. */
  async end(): Promise<void> {
    if (this.#isOpen) this.#text('\n');
    await this.#lines.flushed();
  }

  #text(text: string): void {
    // Pipes receive the text unchanged; a terminal must not interpret it.
    this.#lines.writeText(this.#isTerminal ? safeText(text) : text);
    this.#isOpen = !text.endsWith('\n');
  }
}
