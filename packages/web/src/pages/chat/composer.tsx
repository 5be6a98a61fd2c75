/** The message field: text with attachments, or a slash command. */
import type { Part } from '@parlance/protocol';
import {
  type ClipboardEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { focusPendingCard, useMessageField } from '../../components/approval/use-keys.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { Notice } from '../../components/notice.tsx';
import { useHighlighterSoon } from '../../markdown/use-highlighter.ts';
import { loadModels, useListedModels } from '../../state/models.ts';
import { useServer } from '../../state/server.ts';
import { useMedia } from '../../state/use-media.ts';
import { ACCEPTED } from './attachments.ts';
import { readDraft, writeDraft } from './drafts.ts';
import { useFiles } from './files.ts';
import { hasKeyboard, useKeptFocus } from './keep-focus.ts';
import { useRecall } from './recall.ts';
import { type Choice, namesModel, parseSlash, type Slash, slashChoices } from './slash.ts';
import { optionId, SlashMenu } from './slash-menu.tsx';

/** `supersede` interrupts the running turn; `queue` waits for it. */
export type Mode = 'queue' | 'supersede';

type ComposerProps = {
  /** name of the draft */
  readonly draft: string;
  /** the page is left when the message is accepted: what is typed meanwhile is not sent */
  readonly sendsOnce?: boolean;
  /** a turn is running: a message is queued or interrupts it */
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

/** On a phone there is room for a few words, and no Ctrl key. */
function usePlaceholder(running: boolean): string {
  const isNarrow = useMedia('(max-width: 480px)');
  if (running) return isNarrow ? 'Queue a message' : 'Enter to queue, Ctrl+Enter to interrupt';
  return isNarrow ? 'Message, or / for commands' : 'Send a message, or / for commands';
}

export function Composer(props: ComposerProps) {
  const {
    draft,
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
  const choices = dismissed ? [] : slashChoices(text, about, providers ?? []);
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
    if ((await onSlash(slash)) && typed.current === before) change('');
    setBusy(false);
    area.current?.focus();
  }

  async function send(mode: Mode): Promise<void> {
    const slash = parseSlash(text);
    if (slash && files.attached.length === 0) return run(slash);
    if (empty || busy) return;
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

  function choose(choice: Choice): void {
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
    void send(running && (event.ctrlKey || event.metaKey) ? 'supersede' : 'queue');
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
      {files.hovering && <div className="drop-here">Drop images or text files here</div>}
      {choices.length > 0 && <SlashMenu id={menu} choices={choices} chosen={at} onChoose={choose} />}
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
          onChange={(event) => change(event.target.value)}
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
            label="Attach images or text files"
            onClick={() => picker.current?.click()}
          />
          <span className="composer-gap" />
          {running && !empty && (
            <Button variant="quiet" disabled={busy} onClick={() => void send('supersede')}>
              Interrupt
            </Button>
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
