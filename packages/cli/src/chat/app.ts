/** The interactive conversation: keys in, lines out. */
import { currentTurn, ParlanceError } from '@parlance/sdk';
import type { Approve } from '../approve.ts';
import type { Connection } from '../connection/open.ts';
import { loadHighlighter } from '../terminal/highlight.ts';
import { Keyboard } from '../terminal/input.ts';
import type { Key } from '../terminal/keys.ts';
import { wrapped } from '../terminal/layout.ts';
import { safeText } from '../terminal/safe-text.ts';
import { SecondPress } from '../terminal/second-press.ts';
import { themeFor } from '../terminal/theme.ts';
import { Approvals, type Letter } from './approvals.ts';
import { withFiles } from './attach.ts';
import { Composer } from './composer.ts';
import { consoleNotice } from './console-link.ts';
import { type ChatSettings, Conversation } from './conversation.ts';
import { Expander } from './expander.ts';
import { type Footer, footerFrame } from './footer.ts';
import { helpLines } from './help.ts';
import { readHistory, remember } from './history.ts';
import { menuChoices } from './menu.ts';
import { Painter, type Picture } from './painter.ts';
import { Picker } from './picker.ts';
import { lastQueued } from './queue.ts';
import { createRenderContext, type RenderContext } from './render-context.ts';
import { applyCommand, type Command, parseCommand } from './slash.ts';
import { Transcript } from './transcript.ts';
import { farewellLines, welcomeLines } from './welcome.ts';

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

export class ChatApp {
  readonly #conversation: Conversation;
  readonly #approvals: Approvals;
  readonly #composer: Composer;
  readonly #contextFor: ReturnType<typeof createRenderContext>;
  readonly #painter = new Painter(() => this.#picture());
  readonly #keyboard = new Keyboard({
    key: (key) => this.#key(key),
    changed: () => this.#painter.now(),
    ended: (code) => this.#leave(code),
  });
  readonly #done = Promise.withResolvers<number>();
  readonly #interruption = new SecondPress(() => this.#painter.later());
  readonly #expander = new Expander();
  #transcript = new Transcript();
  #history: readonly string[] = readHistory();
  #picker: Picker | null = null;
  #sending = 0;

  constructor(
    private readonly connection: Connection,
    private readonly options: AppOptions,
  ) {
    const changed = () => this.#painter.later();
    const events = { changed, notice: (text: string) => this.#notice(text) };
    this.#contextFor = createRenderContext({
      theme: themeFor(process.stdout),
      principal: connection.about.principal.id,
    });
    this.#conversation = new Conversation(connection, events, options.settings);
    this.#approvals = new Approvals(this.#conversation, options.approve, (act) => this.#do(act));
    this.#composer = new Composer({
      history: () => this.#history,
      choicesFor: (draft) => menuChoices(draft, connection.about),
    });
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
    const highlighter = loadHighlighter();
    if (session !== null) await this.#conversation.open(session, highlighter);
    await highlighter;
    if (pick) await this.#pick();
    if (message !== '') this.#submit(message);
  }

  get #renderContext(): RenderContext {
    return this.#contextFor(this.#painter.screen);
  }

  #picture(): Picture {
    const context = this.#renderContext;
    const { view, state } = this.#conversation;
    this.#approvals.follow();
    const { final, live } = this.#transcript.update(view, context);
    const frame = this.#picker?.frame(context) ?? footerFrame(live, this.#footer(), context);
    return { final, frame, isBusy: currentTurn(view) !== null || state.status === 'waiting' };
  }

  #footer(): Footer {
    const { view, settings, state } = this.#conversation;
    const { draft, choices, chosen } = this.#composer;
    const { held, isDenying, isExplaining } = this.#approvals;
    return {
      about: this.connection.about,
      view,
      settings,
      state,
      draft,
      choices: isDenying ? [] : choices,
      chosen,
      denying: isDenying,
      held,
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
    else if (!this.#controlKey(name)) this.#fieldKey(key, name);
    this.#painter.now();
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
      if (typeof result === 'object') this.#submit(result.send);
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

  #submit(text: string): void {
    const command = parseCommand(text);
    this.#composer.set('');
    this.#history = remember(text, this.#history);
    if (command) this.#run(command);
    else void this.#send(text);
  }

  /** A message that was not accepted is put back into the input field. */
  async #send(text: string): Promise<void> {
    this.#sending++;
    try {
      const { parts, problems } = await withFiles(text);
      for (const problem of problems) this.#notice(problem);
      await this.#conversation.send(parts);
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
    this.#do(() =>
      applyCommand(command, this.connection.about, {
        choose: (change) => conversation.choose(change),
        compact: () => conversation.compact(),
        clear: () => conversation.clear(),
        notice: (text) => this.#notice(text),
        help: () => this.#painter.print(helpLines(this.#renderContext)),
        sessions: () => this.#pick(),
        newSession: (settings) => {
          this.#transcript = new Transcript();
          conversation.reset(settings);
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
