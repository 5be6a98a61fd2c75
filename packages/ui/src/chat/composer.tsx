/** The message field: text with attachments, or a slash command. */
import type { Part, SessionId } from '@parlance/protocol';
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { focusPendingCard, useMessageField } from '../components/approval/use-keys.ts';
import { attempt, Button, Icon, IconButton, Notice } from '../components/controls.tsx';
import { useHighlighterSoon } from '../markdown/code-block.tsx';
import { onActivity } from '../state/activity.ts';
import { loadModels, useListedModels } from '../state/models.ts';
import { parlance, useServer } from '../state/server.ts';
import { readStorage, writeStorage } from '../state/storage.ts';
import { useMedia } from '../state/store.ts';
import {
  ACCEPTED,
  type Attachment,
  attachmentOf,
  attachmentsOf,
  NotAdded,
  problemWith,
} from './attachments.ts';
import { completed, type Mention, mentionAt, mentionOf, namedPath } from './mention.ts';
import { receiveMentions } from './preview.ts';
import {
  type Choice,
  type NamedSkill,
  NO_OFFERS,
  namesModel,
  type Offers,
  parsePrompt,
  parseSlash,
  resourceIn,
  type Slash,
  savedText,
  slashChoices,
} from './slash.ts';

/** `queue` waits for the running turn, `steer` joins it, `supersede` interrupts it. */
export type Mode = 'queue' | 'steer' | 'supersede';

type ComposerProps = {
  /** name of the draft */
  readonly draft: string;
  /** whose folder may have skills; absent for a session that does not exist yet */
  readonly session?: string;
  /** without `session`: what one would begin with, whose files can be mentioned */
  readonly begin?: { readonly agent?: string | undefined; readonly cwd?: string | undefined };
  /** the page is left when the message is accepted: what is typed meanwhile is not sent */
  readonly sendsOnce?: boolean;
  /** a turn is running: a message is queued, joins or interrupts it */
  readonly running: boolean;
  /** earlier messages, the last one first: the arrow keys bring them back */
  readonly earlier?: readonly string[];
  /** True if it was accepted; otherwise the text comes back. */
  readonly onSend: (parts: Part[], mode: Mode) => Promise<boolean>;
  readonly onSlash: (slash: Slash) => Promise<boolean>;
  readonly onStop?: () => void;
  /** messages that wait for the running turn */
  readonly queued?: number;
  /** the line below: pickers and meters */
  readonly children: ReactNode;
};

const modeOf = ({ ctrlKey, metaKey, altKey }: KeyboardEvent): Mode =>
  ctrlKey || metaKey ? 'supersede' : altKey ? 'steer' : 'queue';

/** On a phone there is room for a few words, and no Ctrl key. */
function usePlaceholder(running: boolean): string {
  const isNarrow = useMedia('(max-width: 480px)');
  if (running)
    return isNarrow ? 'Queue a message' : 'Enter to queue, Alt+Enter to steer, Ctrl+Enter to interrupt';
  return isNarrow ? 'Message, or / for commands' : 'Send a message, or / for commands';
}

/** Loaded when a message begins with a slash. */
function useNamed(isSlash: boolean, session: string | undefined) {
  const [skills, setSkills] = useState<readonly NamedSkill[]>([]);
  const [offers, setOffers] = useState<Offers>(NO_OFFERS);
  useEffect(() => {
    if (!isSlash) return;
    let isCurrent = true;
    parlance.skills(session === undefined ? {} : { session }).then(
      (listed) => isCurrent && setSkills(listed),
      () => undefined,
    );
    const add = (more: Partial<Offers>) => isCurrent && setOffers((before) => ({ ...before, ...more }));
    const load = () => parlance.mcp.offers().then(add, () => undefined);
    void load();
    parlance.prompts.list().then(
      (saved) => add({ saved }),
      () => undefined,
    );
    const stop = onActivity(({ type }) => {
      if (type === 'mcp.changed') void load();
    });
    return () => {
      isCurrent = false;
      stop();
    };
  }, [isSlash, session]);
  return { skills, offers };
}

/** A search waits until so much time has passed without a key. */
const PAUSE_MS = 100;

/** The files that the mention can mean; what was found last while it is typed further. */
function useMentions(
  mention: Mention | null,
  session: string | undefined,
  begin: ComposerProps['begin'],
): readonly Choice[] {
  const [found, setFound] = useState<readonly string[]>([]);
  const typed = mention?.typed ?? null;
  const { agent, cwd } = begin ?? {};
  useEffect(() => {
    if (typed === null) return setFound([]);
    const stop = new AbortController();
    const place = session === undefined ? { agent, cwd } : { session: session as SessionId };
    const search = () =>
      parlance.files.list({ ...place, q: typed, signal: stop.signal }).then(
        ({ paths = [] }) => !stop.signal.aborted && setFound(paths),
        // Such as an agent that reads no files.
        () => !stop.signal.aborted && setFound([]),
      );
    const timer = setTimeout(search, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [typed, session, agent, cwd]);
  return typed === null
    ? []
    : found.slice(0, MOST_FILES).map((path) => ({ ...namedPath(path), text: path, path, complete: false }));
}

/** More are found by typing. */
const MOST_FILES = 12;

export function Composer(props: ComposerProps) {
  const {
    draft,
    session,
    begin,
    running,
    sendsOnce = false,
    earlier = [],
    queued = 0,
    onSend,
    onSlash,
    onStop,
    children,
  } = props;
  const about = useServer();
  const [text, setText] = useState(() => readDraft(draft));
  const typed = useRef(text);
  typed.current = text;
  /** messages are sent one after the other */
  const sending = useRef<Promise<unknown>>(Promise.resolve());
  const [busy, setBusy] = useState(false);
  const [chosen, setChosen] = useState(0);
  const [dismissed, setDismissed] = useState(false);
  const files = useFiles();
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const menu = useId();
  const recall = useRecall(earlier);
  const placeholder = usePlaceholder(running);
  useKeptFocus(area);
  const { providers } = useListedModels();
  const { skills, offers } = useNamed(text.startsWith('/'), session);
  const [cursor, setCursor] = useState(0);
  const paths = useMentions(dismissed ? null : mentionAt(text, cursor), session, begin);
  const choices: readonly Choice[] = dismissed
    ? []
    : [...slashChoices(text, about, providers ?? [], skills, offers), ...paths];
  const at = Math.min(chosen, choices.length - 1);
  const empty = text.trim() === '' && files.attached.length === 0;

  function change(next: string): void {
    setText(next);
    setChosen(0);
    setDismissed(false);
    writeDraft(draft, next);
  }
  useMessageField(area, change);

  useHighlighterSoon(text !== '');
  const isNamingModel = namesModel(text);
  useEffect(() => {
    if (isNamingModel) void loadModels();
  }, [isNamingModel]);
  useEffect(() => {
    if (hasKeyboard()) area.current?.focus();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the field grows with the text
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = 'auto';
    element.style.height = `${Math.min(element.scrollHeight, 260)}px`;
  }, [text]);

  async function run(slash: Slash): Promise<void> {
    const before = typed.current;
    setBusy(true);
    // What is typed meanwhile stays.
    const isDone = slash.name === 'attach' ? await attach(slash) : await onSlash(slash);
    if (isDone && typed.current === before) change('');
    setBusy(false);
    area.current?.focus();
  }

  async function attach({ argument }: Slash): Promise<boolean> {
    const resource = resourceIn(argument);
    if (!resource) return false;
    return attempt(async () => files.restore(attachmentsOf(await parlance.mcp.resource(resource))));
  }

  /** The text of the prompt takes the place of the command, to be read and changed before it is sent. */
  async function fill(prompt: NonNullable<ReturnType<typeof parsePrompt>>): Promise<void> {
    setBusy(true);
    await attempt(async () => {
      const parts = await parlance.mcp.prompt(prompt);
      change(parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n'));
      files.restore(attachmentsOf(parts));
    });
    setBusy(false);
    area.current?.focus();
  }

  async function send(mode: Mode): Promise<void> {
    const prompt = parsePrompt(text, offers);
    if (prompt) return fill(prompt);
    const saved = savedText(text, offers);
    if (saved !== null) return change(saved);
    const slash = parseSlash(text);
    if (slash && (slash.name === 'attach' || files.attached.length === 0)) return run(slash);
    if (empty || busy || files.reading !== null) return;
    const { attached } = files;
    const textParts: Part[] = text.trim() === '' ? [] : [{ type: 'text', text: text.trim() }];
    const parts = [...textParts, ...attached.map(({ part }) => part)];
    change('');
    files.clear();
    setBusy(sendsOnce);
    const accepted = sending.current.then(() => onSend(parts, mode));
    sending.current = accepted.catch(() => undefined);
    if (!(await accepted)) {
      change([text, typed.current].filter(Boolean).join('\n'));
      files.restore(attached);
    }
    setBusy(false);
    area.current?.focus();
  }

  /** Puts the cursor there once the text has changed. */
  function write(next: string, cursor: number): void {
    change(next);
    setCursor(cursor);
    requestAnimationFrame(() => area.current?.setSelectionRange(cursor, cursor));
  }
  function name(path: string): void {
    const before = typed.current.slice(0, cursor);
    const start = before === '' || /\s$/.test(before) ? before : `${before} `;
    const named = `${start}${mentionOf(path)} `;
    write(named + typed.current.slice(cursor), named.length);
    area.current?.focus();
  }
  const latestName = useRef(name);
  latestName.current = name;
  useEffect(() => receiveMentions((path) => latestName.current(path)), []);

  function choose(choice: Choice): void {
    const mention = choice.path === undefined ? null : mentionAt(text, cursor);
    if (mention && choice.path !== undefined) {
      const { text: next, cursor: at } = completed(text, mention, choice.path);
      write(next, at);
      return;
    }
    const slash = choice.complete ? parseSlash(choice.text) : null;
    if (slash) void run(slash);
    else change(choice.text);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    const choice = choices[at];
    if (choice) {
      if (event.key === 'ArrowDown') setChosen((at + 1) % choices.length);
      else if (event.key === 'ArrowUp') setChosen((at + choices.length - 1) % choices.length);
      else if (event.key === 'Escape') setDismissed(true);
      else if (event.key === 'Tab' || event.key === 'Enter') choose(choice);
      else return;
      event.preventDefault();
      return;
    }
    if (event.key === 'Escape') {
      if (!focusPendingCard()) area.current?.blur();
      return;
    }
    const recalled = recall(event.key, text);
    if (recalled !== null) {
      event.preventDefault();
      change(recalled);
      return;
    }
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    void send(running ? modeOf(event) : 'queue');
  }

  function onPaste(event: ClipboardEvent): void {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    void files.add(event.clipboardData.files);
  }

  return (
    <form
      className="chat-composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send('queue');
      }}
    >
      {files.hovering && <div className="drop-here">Drop images, documents or text files here</div>}
      {choices.length > 0 && <SlashMenu id={menu} choices={choices} chosen={at} onChoose={choose} />}
      {files.reading !== null && <Notice>Reading {files.reading} …</Notice>}
      {files.problems.map((problem) => (
        <Notice key={problem} variant="warning">
          {problem}
        </Notice>
      ))}
      <div className="composer-box">
        {files.attached.length > 0 && (
          <ul className="attached-files" aria-label="Attached files">
            {files.attached.map(({ id, name, preview }) => (
              <li key={id}>
                {preview ? <img src={preview} alt="" /> : <Icon name="file" />}
                <span>{name}</span>
                <IconButton icon="close" label={`Remove ${name}`} onClick={() => files.remove(id)} />
              </li>
            ))}
          </ul>
        )}
        <textarea
          ref={area}
          rows={1}
          dir="auto"
          value={text}
          data-empty={text === '' && files.attached.length === 0}
          aria-label="Message"
          aria-autocomplete="list"
          aria-controls={choices.length > 0 ? menu : undefined}
          aria-activedescendant={choices.length > 0 ? optionId(menu, at) : undefined}
          placeholder={placeholder}
          onChange={(event) => {
            change(event.target.value);
            setCursor(event.target.selectionStart);
          }}
          onSelect={(event) => setCursor(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div className="composer-buttons">
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            accept={ACCEPTED}
            onChange={(event) => {
              void files.add([...(event.target.files ?? [])]);
              event.target.value = '';
              area.current?.focus();
            }}
          />
          <IconButton
            icon="attach"
            label="Attach images, documents or text files"
            onClick={() => picker.current?.click()}
          />
          <span className="composer-gap" />
          {running && !empty && (
            <>
              <Button
                variant="quiet"
                disabled={busy}
                title="The agent reads the message with its next step"
                onClick={() => void send('steer')}
              >
                Steer
              </Button>
              <Button variant="quiet" disabled={busy} onClick={() => void send('supersede')}>
                Interrupt
              </Button>
            </>
          )}
          {running && onStop && (
            <Button
              icon="stop"
              title={queued > 0 ? 'Stops this turn. The next queued message starts then.' : undefined}
              onClick={onStop}
            >
              Stop
            </Button>
          )}
          {(!running || !empty) && (
            <Button type="submit" variant="primary" icon="send" disabled={empty || busy}>
              {running ? 'Queue' : 'Send'}
            </Button>
          )}
        </div>
      </div>
      <div className="composer-line">{children}</div>
    </form>
  );
}

// Files from the button, the clipboard or drag and drop.

type Files = {
  readonly attached: readonly Attachment[];
  /** why files were rejected, one sentence each */
  readonly problems: readonly string[];
  /** the file whose text is being read */
  readonly reading: string | null;
  /** a drag that can be dropped is over the page */
  readonly hovering: boolean;
  add(files: Iterable<File>): Promise<void>;
  remove(id: string): void;
  clear(): void;
  /** puts removed ones back, first */
  restore(attached: readonly Attachment[]): void;
};

function useFiles(): Files {
  const [attached, setAttached] = useState<readonly Attachment[]>([]);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [hovering, setHovering] = useState(false);
  const [reading, setReading] = useState<string | null>(null);

  async function add(files: Iterable<File>): Promise<void> {
    const taken = [...attached];
    const refused: string[] = [];
    for (const file of files) {
      const problem = problemWith(file, taken);
      if (problem !== null) {
        refused.push(problem);
        continue;
      }
      try {
        setReading(file.name);
        const attachment = await attachmentOf(file);
        taken.push(attachment);
        if (attachment.note !== null) refused.push(attachment.note);
      } catch (thrown) {
        if (!(thrown instanceof NotAdded)) throw thrown;
        refused.push(thrown.message);
      }
    }
    setReading(null);
    setAttached(taken);
    setProblems(refused);
  }

  useEffect(() => {
    const holds = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false;
    const over = (event: DragEvent) => {
      if (!holds(event)) return;
      // Otherwise the browser would navigate to the file.
      event.preventDefault();
      setHovering(true);
    };
    const leave = ({ relatedTarget }: DragEvent) => relatedTarget === null && setHovering(false);
    const drop = (event: DragEvent) => {
      if (!holds(event)) return;
      event.preventDefault();
      setHovering(false);
      void add(event.dataTransfer?.files ?? []);
    };
    const stop = new AbortController();
    const { signal } = stop;
    addEventListener('dragover', over, { signal });
    addEventListener('dragleave', leave, { signal });
    addEventListener('drop', drop, { signal });
    return () => stop.abort();
  });

  return {
    attached,
    problems,
    hovering,
    reading,
    add,
    remove: (id) => setAttached(attached.filter((one) => one.id !== id)),
    restore: (removed) => setAttached((now) => [...removed, ...now]),
    clear() {
      setAttached([]);
      setProblems([]);
    },
  };
}

// Keeps the focus in the chat when the control that had it disappears.

/** On a phone, focusing a field opens the keyboard, so the reader does it. */
const hasKeyboard = (): boolean => matchMedia('(hover: hover)').matches;

/**
 * Moves the focus to the message field when a button is removed together with its row, such as that of an answered approval
 * or of a turn that is regenerated. Not to the next approval: what is typed then could be meant for the field.
 */
function useKeptFocus(field: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let last: EventTarget | null = null;
    const onFocus = ({ target }: FocusEvent) => {
      last = target;
    };
    const removed = new MutationObserver(() => {
      if (!(last instanceof HTMLElement) || last.isConnected) return;
      last = null;
      if (document.activeElement !== document.body || !hasKeyboard()) return;
      field.current?.focus({ preventScroll: true });
    });
    document.addEventListener('focusin', onFocus);
    removed.observe(document.getElementById('main') ?? document.body, { subtree: true, childList: true });
    return () => {
      document.removeEventListener('focusin', onFocus);
      removed.disconnect();
    };
  }, [field]);
}

type SlashMenuProps = {
  readonly id: string;
  readonly choices: readonly Choice[];
  readonly chosen: number;
  readonly onChoose: (choice: Choice) => void;
};

const optionId = (id: string, index: number): string => `${id}-${index}`;

/** Completions of a slash command, or files to mention. The focus stays in the message; arrow keys move, Enter selects. */
function SlashMenu({ id, choices, chosen, onChoose }: SlashMenuProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  return (
    <div
      className="slash-menu"
      role="listbox"
      id={id}
      ref={list}
      aria-label={choices[0]?.path === undefined ? 'Commands' : 'Files'}
      tabIndex={0}
    >
      {choices.map((choice, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the message
        // biome-ignore lint/a11y/useKeyWithClickEvents: the message field handles keys
        <div
          key={choice.path ?? choice.text}
          role="option"
          id={optionId(id, index)}
          aria-selected={index === chosen}
          className="slash-choice"
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(choice)}
        >
          <strong>{choice.label}</strong>
          <span>{choice.about}</span>
        </div>
      ))}
    </div>
  );
}

// Brings earlier messages back with the arrow keys, as a shell does.

/**
 * `earlier` starts with the last message. Returns the text to show for a key; null if the key does something else: a
 * message that was typed or changed is not replaced.
 */
export function recalledText(
  earlier: readonly string[],
  { key, text, at }: { readonly key: string; readonly text: string; readonly at: number },
): { readonly text: string; readonly at: number } | null {
  if (text !== (earlier[at] ?? '')) return null;
  const next = key === 'ArrowUp' ? at + 1 : key === 'ArrowDown' ? at - 1 : at;
  if (next === at || next < -1 || next >= earlier.length) return null;
  return { text: earlier[next] ?? '', at: next };
}

export function useRecall(earlier: readonly string[]): (key: string, text: string) => string | null {
  const at = useRef(-1);
  return (key, text) => {
    if (text === '') at.current = -1;
    const recalled = recalledText(earlier, { key, text, at: at.current });
    if (recalled === null) return null;
    at.current = recalled.at;
    return recalled.text;
  };
}

// Texts that have not been sent, kept until the tab is closed. `new` is that of a session that does not exist yet.

const nameOf = (draft: string): string => `parlance.draft.${draft}`;

export const readDraft = (draft: string): string => readStorage('session', nameOf(draft)) ?? '';

export const writeDraft = (draft: string, text: string): void =>
  writeStorage('session', nameOf(draft), text === '' ? null : text);

export function moveDraft(from: string, to: string): void {
  writeDraft(to, readDraft(from));
  writeDraft(from, '');
}
