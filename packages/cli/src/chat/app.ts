/** The interactive conversation: keys in, lines out. */

import type { InputMode, Part, TurnId } from '@parlance/protocol';
import { pathText } from '@parlance/protocol/question-text';
import { amountText } from '@parlance/protocol/spending';
import {
  type About,
  type BlockView,
  type CallView,
  currentTurn,
  type Item,
  ParlanceError,
  type ProviderModels,
  pendingQuestion,
  type QuestionView,
  type SessionView,
  type Skill,
  subAgentsOf,
  type UsageReport,
} from '@parlance/sdk';
import { costOfSession, counted, dollars, type Prices, usageText } from '@parlance/ui/chat/cost.ts';
import { type Row, rowsOf } from '@parlance/ui/chat/rows.ts';
import { printedRows, type RunRow } from '@parlance/ui/chat/runs.ts';
import { NO_OFFERS, namesModel, type Offers, parsePrompt, savedText } from '@parlance/ui/chat/slash.ts';
import { consoleNotice } from '../connection/browser.ts';
import type { Connection } from '../connection/open.ts';
import type { Draft } from '../terminal/editor.ts';
import { loadHighlighter } from '../terminal/highlight.ts';
import { answersQuestions, type Key, Keyboard } from '../terminal/keys.ts';
import { cut, padded, widthOf, wrapped } from '../terminal/layout.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { type Frame, Screen } from '../terminal/screen.ts';
import { type Background, backgroundFrom, backgroundIn, themeFor } from '../terminal/theme.ts';
import { Approvals, type Approve, type Letter } from './approvals.ts';
import { fileChoices, mentionedFiles, withFiles } from './attach.ts';
import { Composer, type MenuChoice } from './composer.ts';
import { type ChatSettings, Conversation } from './conversation.ts';
import { type Footer, footerFrame } from './footer.ts';
import { readHistory, remember } from './history.ts';
import { Picker } from './picker.ts';
import {
  createRenderContext,
  expandedCall,
  type FinalPart,
  type RenderContext,
  renderRow,
  unfinished,
} from './render.ts';
import { applyCommand, COMMANDS, type Command, commandChoices, type Offered, parseCommand } from './slash.ts';

export type AppOptions = {
  readonly settings: ChatSettings;
  /** session to open; null for a new one */
  readonly session: string | null;
  /** let the user choose a session first */
  readonly pick: boolean;
  /** message to send immediately */
  readonly message: string;
  readonly approve: Approve;
};

const MAX_LISTED = 200;

/** How long the terminal may take to tell its background; without an answer, `COLORFGBG` counts. */
const ANSWER_MS = 150;

export class ChatApp {
  readonly #conversation: Conversation;
  readonly #approvals: Approvals;
  readonly #composer: Composer;
  #contextFor: ReturnType<typeof createRenderContext>;
  readonly #answered = Promise.withResolvers<void>();
  readonly #painter = new Painter(() => this.#picture());
  readonly #keyboard = new Keyboard({
    key: (key) => this.#key(key),
    answered: (text) => this.#setBackground(backgroundIn(text)),
    changed: () => this.#painter.now(),
    ended: (code) => this.#leave(code),
  });
  readonly #done = Promise.withResolvers<number>();
  readonly #interruption = new SecondPress(() => this.#painter.later());
  readonly #expander = new Expander();
  #transcript = new Transcript();
  #history: readonly string[] = readHistory();
  #picker: Picker | null = null;
  /** the question that the text in the field answers: it was asked before the text was begun */
  #answering: string | null = null;
  #sending = 0;
  /** null until a slash is typed; of the folder of the session that is open then */
  #skills: { readonly session: string | null; readonly listed: readonly Skill[] } | null = null;

  /** null until a model is named */
  #providers: readonly ProviderModels[] | null = null;
  /** of MCP servers, loaded with the skills */
  #offers: Offers = NO_OFFERS;
  /** the draft begins with a slash */
  #isSlash = false;
  /** resources for the next message */
  #attached: readonly Part[] = [];

  constructor(
    private readonly connection: Connection,
    private readonly options: AppOptions,
  ) {
    const changed = () => this.#painter.later();
    const events = { changed, notice: (text: string) => this.#notice(text) };
    this.#contextFor = this.#contextsOn(backgroundFrom(process.env));
    this.#conversation = new Conversation(connection, events, options.settings);
    this.#approvals = new Approvals(this.#conversation, options.approve, (act) => this.#do(act));
    this.#composer = new Composer({
      history: () => this.#history,
      choicesFor: (draft) =>
        menuChoices(draft, connection.about, {
          skills: this.#skillsFor(draft),
          offers: this.#offers,
          providers: this.#providersFor(draft),
        }),
    });
  }

  #contextsOn(background: Background | null): ReturnType<typeof createRenderContext> {
    const theme = themeFor(process.stdout, background);
    return createRenderContext({ theme, principal: this.connection.about.principal.id });
  }

  /** Null: the terminal has told something else. */
  #setBackground(background: Background | null): void {
    if (background === null) return;
    this.#contextFor = this.#contextsOn(background);
    this.#answered.resolve();
    this.#painter.later();
  }

  /** Those that are known so far: a slash at the beginning of a draft loads them. */
  #skillsFor({ text }: Draft): readonly Skill[] {
    const session = this.#conversation.id;
    const wasSlash = this.#isSlash;
    this.#isSlash = text.startsWith('/');
    if (!this.#isSlash || (wasSlash && this.#skills?.session === session)) return this.#skills?.listed ?? [];
    this.#skills = { session, listed: this.#skills?.listed ?? [] };
    this.connection.parlance.skills(session === null ? {} : { session }).then(
      (listed) => {
        this.#skills = { session, listed };
        this.#painter.later();
      },
      // Only a completion is missing.
      () => undefined,
    );
    const add = (more: Partial<Offers>) => {
      this.#offers = { ...this.#offers, ...more };
      this.#painter.later();
    };
    const { mcp, prompts } = this.connection.parlance;
    mcp.offers().then(add, () => undefined);
    prompts.list().then(
      (saved) => add({ saved }),
      () => undefined,
    );
    return this.#skills.listed;
  }

  /** Those that are known so far: the first `/model` loads them. */
  #providersFor({ text }: Draft): readonly ProviderModels[] {
    if (this.#providers !== null || !namesModel(text)) return this.#providers ?? [];
    this.#providers = [];
    this.connection.parlance.models().then(
      (listed) => {
        this.#providers = listed;
        this.#painter.later();
      },
      // Only a completion is missing.
      () => undefined,
    );
    return this.#providers;
  }

  /** Resolves with the exit code when the user exits. */
  async run(): Promise<number> {
    this.#keyboard.open();
    try {
      this.#painter.print(welcomeLines(this.connection, this.#renderContext));
      this.#painter.now();
      await this.#begin();
      return await this.#done.promise;
    } finally {
      this.#conversation.close();
      this.#painter.close(farewellLines(this.connection, this.#conversation, this.#renderContext));
      this.#keyboard.close();
    }
  }

  async #begin(): Promise<void> {
    const { session, pick, message } = this.options;
    // Loads after the first prompt is shown, so that it does not delay it.
    // Lines that are printed keep their colours.
    const background = answersQuestions() && Promise.race([this.#answered.promise, Bun.sleep(ANSWER_MS)]);
    const ready = Promise.all([loadHighlighter(), background]);
    if (session !== null) await this.#conversation.open(session, ready);
    await ready;
    if (pick) await this.#pick();
    if (message !== '') this.#submit(message, 'queue');
  }

  get #renderContext(): RenderContext {
    return this.#contextFor(this.#painter.screen);
  }

  #picture(): Picture {
    const context = this.#renderContext;
    const { view, state } = this.#conversation;
    this.#approvals.follow();
    const asked = this.#question?.question ?? null;
    if (this.#composer.isEmpty || asked !== this.#answering)
      this.#answering = this.#composer.isEmpty ? asked : null;
    const { final, live } = this.#transcript.update(view, context);
    const frame = this.#picker?.frame(context) ?? footerFrame(live, this.#footer(), context);
    return { final, frame, isBusy: currentTurn(view) !== null || state.status === 'waiting' };
  }

  /** Approvals come first. */
  get #question(): QuestionView | null {
    const { view } = this.#conversation;
    return view.pending ? null : pendingQuestion(view);
  }

  #footer(): Footer {
    const { view, settings, state } = this.#conversation;
    const { draft, choices, chosen } = this.#composer;
    const { held, selected, isDenying, isExplaining } = this.#approvals;
    return {
      about: this.connection.about,
      view,
      settings,
      state,
      draft,
      choices: isDenying ? [] : choices,
      chosen,
      denying: isDenying,
      question: this.#question,
      answering: this.#answering !== null,
      held,
      selected,
      explaining: isExplaining,
      sending: this.#sending > 0,
      hint: this.#interruption.isArmed ? 'Press Ctrl-C again to leave' : '',
      now: Date.now(),
    };
  }

  #notice(text: string, colour: 'yellow' | 'red' = 'yellow'): void {
    const { theme, width } = this.#renderContext;
    this.#painter.print(['', ...wrapped(safeText(text), width).map(theme[colour])]);
  }

  #key(key: Key): void {
    const name = key.kind === 'key' ? key.name : '';
    // A letter that is followed by anything but Enter or Escape is text.
    const held = this.#approvals.release();
    if (this.#picker) this.#pickerKey(key, this.#picker);
    else if (held && name === 'enter') this.#choose(held);
    else if (held && name === 'escape') this.#composer.set('');
    else if (!this.#selectionKey(name) && !this.#controlKey(name)) this.#fieldKey(key, name);
    this.#painter.now();
  }

  /** While an approval takes the place of the empty field. True if the key was handled. */
  #selectionKey(name: string): boolean {
    const { selected, isDenying } = this.#approvals;
    if (isDenying || !this.#composer.isEmpty) this.#approvals.unselect();
    else if (name === 'up' || name === 'down') return this.#approvals.select(name);
    else if (selected && name === 'enter') {
      this.#choose(selected);
      return true;
    } else if (selected && name === 'escape') {
      this.#approvals.unselect();
      return true;
    } else this.#approvals.unselect();
    return false;
  }

  /** The letter stands alone in the field. */
  #choose(letter: Letter): void {
    this.#composer.set('');
    this.#approvals.choose(letter);
  }

  /** True if the key was handled. */
  #controlKey(name: string): boolean {
    switch (name) {
      case 'ctrl-c':
        this.#interrupt();
        return true;
      case 'ctrl-d':
        if (!this.#composer.isEmpty) return false;
        this.#leave(0);
        return true;
      case 'ctrl-l':
        this.#painter.screen.clear();
        return true;
      case 'ctrl-o':
        this.#painter.print(this.#expander.next(this.#conversation.view, this.#renderContext));
        return true;
      case 'ctrl-r':
        this.#conversation.retryNow();
        return true;
      case 'ctrl-z':
        this.#painter.screen.release();
        this.#keyboard.suspend();
        return true;
      default:
        return false;
    }
  }

  #fieldKey(key: Key, name: string): void {
    if (key.kind === 'text' && this.#composer.isEmpty)
      this.#approvals.hold(key.text, () => {
        const letter = this.#approvals.release();
        if (letter) this.#choose(letter);
        this.#painter.now();
      });
    if (name === 'escape' && this.#composer.choices.length === 0) this.#escape();
    else if (name === 'up' && this.#composer.isEmpty && this.#takeBack()) return;
    else if (name === 'enter' && this.#approvals.isDenying) this.#deny();
    else {
      const result = this.#composer.key(key);
      if (typeof result === 'object') this.#submit(result.send, result.mode);
    }
  }

  /** True if a message is queued; puts it back into the input field. */
  #takeBack(): boolean {
    const waiting = lastQueued(this.#conversation.view);
    if (waiting?.text === null)
      this.#notice('The queued message has attachments: change or remove it in the console.');
    else if (waiting) {
      this.#composer.set(waiting.text);
      this.#do(() => this.#conversation.cancel(waiting.turn));
    }
    return waiting !== null;
  }

  #deny(): void {
    const reason = this.#composer.draft.text.trim();
    this.#composer.set('');
    this.#approvals.deny(reason);
  }

  #escape(): void {
    if (this.#approvals.isDenying) {
      this.#approvals.keep();
      this.#composer.set('');
    } else if (currentTurn(this.#conversation.view)) this.#do(() => this.#conversation.cancel());
  }

  #interrupt(): void {
    if (this.#interruption.press()) this.#leave(0);
    if (this.#composer.isEmpty) this.#escape();
    else this.#composer.set('');
  }

  #leave(code: number): void {
    this.#done.resolve(code);
  }

  #submit(text: string, mode: InputMode): void {
    const command = parseCommand(text);
    const answers = this.#answering !== null && mode === 'queue';
    this.#composer.set('');
    this.#history = remember(text, this.#history);
    const prompt = parsePrompt(text, this.#offers);
    const saved = savedText(text, this.#offers);
    if (prompt) this.#do(() => this.#fill(prompt));
    else if (saved !== null) this.#composer.set(safeText(saved));
    else if (command) this.#run(command);
    else void this.#send(text, mode, answers);
  }

  /** The text of a prompt of an MCP server, to be read and changed before it is sent. */
  async #fill(prompt: NonNullable<ReturnType<typeof parsePrompt>>): Promise<void> {
    const parts = await this.connection.parlance.mcp.prompt(prompt);
    this.#attach(parts.filter(({ type }) => type !== 'text'));
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    this.#composer.set(safeText(texts.join('\n\n')));
  }

  #attach(parts: readonly Part[]): void {
    if (parts.length === 0) return;
    this.#attached = [...this.#attached, ...parts];
    this.#notice(`${this.#attached.length} attached to the next message.`);
  }

  /** A message that was not accepted is put back into the input field. */
  async #send(text: string, mode: InputMode, answers: boolean): Promise<void> {
    this.#sending++;
    try {
      const { parts, problems } = await withFiles(text);
      for (const problem of problems) this.#notice(problem);
      const attached = this.#attached;
      this.#attached = [];
      await this.#conversation.send([...parts, ...attached], mode, answers).catch((error: unknown) => {
        this.#attached = [...attached, ...this.#attached];
        throw error;
      });
    } catch (error) {
      this.#fail(error);
      if (this.#composer.isEmpty) this.#composer.set(text);
    } finally {
      this.#sending--;
      this.#painter.later();
    }
  }

  #run(command: Command): void {
    const conversation = this.#conversation;
    const begin = (settings: ChatSettings) => {
      this.#transcript = new Transcript();
      conversation.reset(settings);
    };
    this.#do(() =>
      applyCommand(command, this.connection.about, {
        choose: (change) => conversation.choose(change),
        compact: () => conversation.compact(),
        clear: () => conversation.clear(),
        ...(conversation.id !== null && { limit: (amount) => conversation.limit(amount) }),
        rewind: async (what) => {
          for (const line of await conversation.rewind(what)) this.#notice(line);
        },
        cost: async () => {
          const { about, parlance } = this.connection;
          const day = new Date().toISOString().slice(0, 10);
          const [prices, today] = await Promise.all([
            parlance.prices(),
            parlance.usage.report({ from: day, to: day, user: about.principal.id }),
          ]);
          const lines = costLines(conversation.view, about, prices, today);
          this.#painter.print(['', ...lines.flatMap((line) => wrapped(line, this.#renderContext.width))]);
        },
        agents: () =>
          this.#painter.print(agentLines(this.connection.about, conversation, this.#renderContext)),
        attach: async (resource) => this.#attach(await this.connection.parlance.mcp.resource(resource)),
        notice: (text) => this.#notice(text),
        help: () => this.#painter.print(helpLines(this.#renderContext)),
        sessions: () => this.#pick(),
        newSession: () => begin({}),
        openDomain: ({ id, name }) => {
          begin({ domain: id });
          this.#notice(`New session in ${name}.`);
        },
        open: async () => this.#notice(await consoleNotice(this.connection, conversation.id)),
        quit: () => this.#leave(0),
      }),
    );
  }

  async #pick(): Promise<void> {
    const { sessions } = await this.connection.parlance.sessions.list({ limit: MAX_LISTED });
    if (sessions.length === 0) return this.#notice('No sessions yet.');
    this.#picker = new Picker(sessions);
    this.#painter.now();
  }

  #pickerKey(key: Key, picker: Picker): void {
    const result = picker.key(key);
    if (result === 'changed') return;
    this.#picker = null;
    if (result === 'closed') return;
    this.#painter.print(['', this.#renderContext.theme.bold(safeText(result.session.title))]);
    this.#transcript = new Transcript();
    this.#do(() => this.#conversation.open(result.session.id));
  }

  /** Successful changes arrive as events. */
  #do(act: () => Promise<unknown>): void {
    void act()
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#painter.later());
  }

  /** Shows errors of the server; anything else is a bug and ends the program. */
  #fail(error: unknown): void {
    if (error instanceof ParlanceError) this.#notice(`✗ ${error.message}`, 'red');
    else this.#done.reject(error);
  }
}

// `Ctrl-O`: the last thinking or tool call as a whole; pressed again, the one before.

type CollapsedItem = BlockView | CallView;

const isCollapsed = (item: Item): item is CollapsedItem => item.kind === 'reasoning' || item.kind === 'call';
const idOf = (item: CollapsedItem): string => (item.kind === 'call' ? item.call : item.block);

class Expander {
  /** shown since a new item was collapsed */
  readonly #shown = new Set<string>();
  #last: string | null = null;

  /** Empty if nothing is left. */
  next(view: SessionView, context: RenderContext): string[] {
    const items = view.entries.flatMap((entry): readonly Item[] =>
      entry.kind === 'turn' ? entry.items : [],
    );
    const collapsed = items.filter(isCollapsed);
    const last = collapsed.at(-1);
    if (last && idOf(last) !== this.#last) {
      this.#shown.clear();
      this.#last = idOf(last);
    }
    const item = collapsed.findLast((one) => !this.#shown.has(idOf(one)));
    if (!item) return [];
    this.#shown.add(idOf(item));
    return ['', ...expandedLines(item, context)];
  }
}

function expandedLines(item: CollapsedItem, context: RenderContext): string[] {
  if (item.kind === 'call') return expandedCall(item, context);
  const lines = wrapped(safeText(item.text), context.width - 2);
  return [
    context.theme.dim('✻ Thinking'),
    ...lines.map((line) => context.theme.dim(context.theme.italic(`  ${line}`))),
  ];
}

// `/help`: commands and keys.

const KEYS = [
  ['Enter', 'send; while a turn runs, queue'],
  ['Ctrl-S', 'steer: the agent reads the message with its next step'],
  ['Ctrl-X, Ctrl-Enter', 'interrupt the turn with the message'],
  ['Alt-Enter, Ctrl-J, \\ Enter', 'new line'],
  ['Esc, Ctrl-C', 'interrupt the turn; Ctrl-C twice leaves'],
  ['y, a, n, e; ↑ ↓ Enter', 'allow once, always, deny with a reason, explain; typed on, a message'],
  ['↑ ↓', 'queued message, earlier messages'],
  ['@path', 'attach an image or a text file; Tab completes'],
  ['Ctrl-O', 'expand the last collapsed reasoning or output; again: the one before'],
  ['Ctrl-L', 'clear the screen'],
  ['Ctrl-Z', 'suspend'],
  ['Ctrl-D', 'leave'],
] as const;

function helpLines({ theme }: RenderContext): string[] {
  const rows = [...COMMANDS.map(({ label, about }) => [label, about] as const), ['', ''] as const, ...KEYS];
  const column = Math.max(...rows.map(([name]) => name.length));
  return [
    '',
    theme.bold('Commands and keys'),
    ...rows.map(([name, about]) => (name === '' ? '' : `  ${theme.cyan(padded(name, column))}  ${about}`)),
  ];
}

// `/cost`: what the session has used, and what the user has used today.

function costLines(view: SessionView, about: About, prices: Prices, today: UsageReport): string[] {
  const { usage, spent } = view;
  const cost = costOfSession(view, about, prices);
  const counted = usage.inputTokens + usage.outputTokens;
  const [row] = today.rows;
  const session =
    counted === 0
      ? 'This session has used no tokens.'
      : `This session: ${usageText(usage)} · ${cost === null ? 'no price is known' : dollars(cost)}.`;
  const withOthers =
    spent.tokens > counted
      ? [`With its sub-agents: ${amountText('tokens', spent.tokens)}, ${dollars(spent.cost / 1e6)}.`]
      : [];
  const day = row?.calls
    ? `Today (UTC): ${usageText(row)} · ${row.unpricedCalls === row.calls ? 'no price is known' : dollars(row.dollars)}.`
    : 'Today (UTC): no calls of models.';
  return [session, ...withOthers, day];
}

// `/agents`: those to choose from, and the sub-agents of the session.

function agentLines(
  about: About,
  { view, settings }: Conversation,
  { theme, width }: RenderContext,
): string[] {
  const domain = about.domains.find(({ id }) => id === (view.created?.domain ?? about.defaultDomain));
  const current = settings.agent ?? domain?.defaultAgent;
  const agents = about.agents.filter(({ id }) => !domain || domain.agents.includes(id));
  const column = Math.max(0, ...agents.map(({ id }) => widthOf(safeLine(id))));
  const children = subAgentsOf(view).flatMap(({ path, status, message, session }) => [
    cut(
      `  ${safeLine(pathText(path))}  ${theme.dim([status, message && safeLine(message)].filter(Boolean).join(': '))}`,
      width,
    ),
    cut(theme.dim(`    parlance chat --session ${safeLine(session)}`), width),
  ]);
  return [
    '',
    theme.bold('Agents'),
    ...agents.map(({ id, description }) =>
      cut(
        `${id === current ? theme.cyan('❯ ') : '  '}${padded(safeLine(id), column)}  ${theme.dim(safeLine(description))}`,
        width,
      ),
    ),
    theme.dim('  /agent NAME chooses one.'),
    ...(children.length > 0 ? ['', theme.bold('Sub-agents of this session'), ...children] : []),
  ];
}

// What can be completed: commands after a slash, files after an at sign.

function menuChoices({ text, cursor }: Draft, about: About, offered: Offered): MenuChoice[] {
  const files = fileChoices(text, cursor).map(({ label, ...draft }) => ({
    draft,
    label,
    about: '',
    complete: false,
  }));
  return [...commandChoices(text, about, offered), ...files];
}

// Messages that wait for their turn. ↑ in an empty field takes the last one back, to change or to drop it.

type QueuedMessage = {
  readonly turn: TurnId;
  /** null if taking it back would lose attachments: files that its text does not name */
  readonly text: string | null;
};

/** Null if no message waits. */
function lastQueued({ queued }: Pick<SessionView, 'queued'>): QueuedMessage | null {
  const last = queued.findLast(({ turn, call }) => turn !== undefined && !call);
  if (last?.turn === undefined) return null;
  const texts = last.parts.filter((part) => part.type === 'text').map(({ text }) => text);
  const text = texts.join('\n');
  const attached = last.parts.length - texts.length;
  return { turn: last.turn, text: mentionedFiles(text).size < attached ? null : text };
}

// The first and last lines of a terminal conversation.

function welcomeLines({ about, url }: Connection, { theme, width }: RenderContext): string[] {
  const where = url ?? process.cwd();
  const text = `${safeLine(about.version)} · ${where} · /help lists the commands`;
  return [cut(`${theme.bold('Parlance')} ${theme.dim(text)}`, width)];
}

function farewellLines(
  connection: Connection,
  { id, view }: Conversation,
  { theme }: RenderContext,
): string[] {
  if (id === null) return [];
  const continuesNote = connection.isEmbedded()
    ? 'The turn continues when a session is opened here again. '
    : 'The turn continues on the server. ';
  const running = currentTurn(view) ? continuesNote : '';
  return ['', theme.dim(`${running}Continue with: parlance chat --session ${safeLine(id)}`)];
}

// Tracks which lines of a conversation are final and printed once, and which are redrawn.

type RenderedLines = { readonly final: string[]; readonly live: string[] };

const SKIPPED: ReadonlySet<(Row | RunRow)['kind']> = new Set(['queued', 'working', 'paused']);

/** Number of turns printed when resuming a session. */
const MAX_TURNS = 10;

class Transcript {
  /** printed parts of rows that are not complete */
  readonly #parts = new Map<string, Set<string>>();
  readonly #complete = new Set<string>();
  #isFirst = true;

  /** Rows are printed in order: an incomplete row delays the final lines of later rows. */
  update(view: SessionView, context: RenderContext): RenderedLines {
    const final: string[] = this.#isFirst ? this.#skip(view, context) : [];
    const live: string[] = [];
    this.#isFirst = false;
    let isHeld = false;
    const rows = printedRows(rowsOf(view));
    for (const [index, row] of rows.entries()) {
      if (this.#complete.has(row.key) || SKIPPED.has(row.kind)) continue;
      const done = renderRow(row, context);
      // The next attempt changes the line until the model answers.
      const isRetrying =
        row.kind === 'item' && row.item.kind === 'restart' && rows[index + 1]?.kind === 'working';
      const rendered = isRetrying ? unfinished(done.parts.flatMap(({ lines }) => lines)) : done;
      const parts = rendered.parts.filter(({ key }) => !this.#parts.get(row.key)?.has(key));
      for (const part of parts) addPart(isHeld ? live : final, part);
      if (!isHeld) this.#remember(row, parts, rendered.complete);
      isHeld ||= !rendered.complete;
      if (rendered.live.length > 0) live.push('', ...rendered.live);
    }
    return { final, live };
  }

  #remember({ key }: Row | RunRow, parts: readonly FinalPart[], complete: boolean): void {
    if (complete) {
      this.#complete.add(key);
      this.#parts.delete(key);
      return;
    }
    const known = this.#parts.get(key) ?? new Set();
    for (const part of parts) known.add(part.key);
    this.#parts.set(key, known);
  }

  /** Prints only the end of a long session. */
  #skip(view: SessionView, { theme }: RenderContext): string[] {
    const hidden = view.entries.length - MAX_TURNS;
    if (hidden <= 0) return [];
    for (const row of printedRows(rowsOf({ ...view, entries: view.entries.slice(0, hidden), queued: [] })))
      this.#complete.add(row.key);
    return [theme.dim(`… ${counted(hidden, 'earlier turn')}, shown in the console`)];
  }
}

function addPart(lines: string[], { lines: added, joined }: FinalPart): void {
  if (added.length > 0) lines.push(...(joined ? [] : ['']), ...added);
}

/** A key that does more when it is pressed twice, such as Ctrl-C. */

const AGAIN_MS = 2_000;

class SecondPress {
  #at = Number.NEGATIVE_INFINITY;

  /** `expired` is called when the first press is over. */
  constructor(private readonly expired: () => void) {}

  /** A second press would count. */
  get isArmed(): boolean {
    return performance.now() - this.#at < AGAIN_MS;
  }

  /** True if it is the second one. */
  press(): boolean {
    const isSecond = this.isArmed;
    this.#at = performance.now();
    setTimeout(this.expired, AGAIN_MS);
    return isSecond;
  }
}

// Redraws the screen after changes, at a limited rate for slow connections.

const FRAME_MS = 33;
const TICK_MS = 100;

type Picture = {
  readonly final: readonly string[];
  readonly frame: Frame;
  /** something is animated, such as a clock */
  readonly isBusy: boolean;
};

class Painter {
  readonly screen = new Screen(terminalOutput);
  readonly #printed: string[] = [];
  #next: Timer | null = null;
  #ticking: Timer | null = null;
  #drawnAt = 0;

  constructor(private readonly picture: () => Picture) {}

  /** Prints lines above everything that can change. */
  print(lines: readonly string[]): void {
    this.#printed.push(...lines);
    this.later();
  }

  later(): void {
    const wait = Math.max(0, FRAME_MS - (performance.now() - this.#drawnAt));
    this.#next ??= setTimeout(this.now, wait);
  }

  readonly now = (): void => {
    this.#cancel();
    this.#drawnAt = performance.now();
    const { final, frame, isBusy } = this.picture();
    this.screen.draw([...this.#printed.splice(0), ...final], frame);
    if (isBusy) this.#ticking ??= setInterval(() => this.later(), TICK_MS);
    else this.#stopTicking();
  };

  /** Ends with these lines. */
  close(lines: readonly string[]): void {
    this.#cancel();
    this.#stopTicking();
    this.screen.close([...this.#printed.splice(0), ...lines]);
  }

  #cancel(): void {
    if (this.#next) clearTimeout(this.#next);
    this.#next = null;
  }

  #stopTicking(): void {
    if (this.#ticking) clearInterval(this.#ticking);
    this.#ticking = null;
  }
}

const terminalOutput = {
  get columns() {
    return process.stdout.columns || 80;
  },
  get rows() {
    return process.stdout.rows || 24;
  },
  write(text: string) {
    process.stdout.write(text);
  },
};
