/** The frame to send: an example, a saved frame or an earlier one, edited freely and sent as it is. */
import { Button, Choice, copyText, Field, toast } from '@parlance/ui/components/controls.tsx';
import { Dialog } from '@parlance/ui/components/dialog.tsx';
import { readStorage, writeStorage } from '@parlance/ui/state/storage.ts';
import { type KeyboardEvent, useId, useState } from 'react';
import type { ShellCommand } from '../../entries/rows.ts';
import { frameSummary } from '../../entries/summary.ts';
import type { Example } from './examples.ts';

type ComposerProps = {
  readonly examples: readonly Example[];
  readonly kept: UseStoredFramesResult;
  /** only valid JSON can be sent; a socket takes any text */
  readonly needsJson: boolean;
  readonly draft: StoredFrame;
  /** the draft as a command for a terminal */
  readonly command: ShellCommand | null;
  readonly canSend: boolean;
  readonly onDraft: (draft: string) => void;
  readonly onExample: (example: Example) => void;
  readonly onKept: (frame: StoredFrame) => void;
  readonly onSend: () => void;
};

export function Composer(props: ComposerProps) {
  const { examples, kept, needsJson, draft, command, canSend, onDraft, onExample, onKept, onSend } = props;
  const state = useId();
  const [saving, setSaving] = useState(false);
  const validity = validityOf(draft.text);
  const possible = canSend && draft.text !== '' && (validity.valid || !needsJson);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (possible) onSend();
  }

  async function copy({ tool, text }: ShellCommand): Promise<void> {
    if (await copyText(text)) toast(`Copied as ${tool}.`);
  }

  return (
    <div className="composer">
      <Choice label="Insert">
        {(id) => (
          <InsertChoice id={id} examples={examples} kept={kept} onExample={onExample} onKept={onKept} />
        )}
      </Choice>
      <div className="playground-draft">
        <textarea
          aria-label="Frame to send"
          rows={9}
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          value={draft.text}
          aria-invalid={!validity.valid}
          aria-describedby={state}
          onChange={(event) => onDraft(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </div>
      <div className="composer-end">
        <p id={state} className={validity.valid ? 'hint' : 'playground-invalid'} role="status">
          {validity.valid ? `Valid JSON: ${validity.type}` : `Not JSON: ${validity.problem}`}
        </p>
        <Button variant="quiet" disabled={draft.text === ''} onClick={() => setSaving(true)}>
          Save …
        </Button>
        {command && (
          <Button variant="quiet" icon="copy" title={command.text} onClick={() => void copy(command)}>
            Copy as {command.tool}
          </Button>
        )}
        <Button variant="primary" icon="send" disabled={!possible} title="Ctrl+Enter" onClick={onSend}>
          {validity.valid ? 'Send' : 'Send as is'}
        </Button>
      </div>
      {saving && <SaveDialog frame={draft} kept={kept} onClose={() => setSaving(false)} />}
    </div>
  );
}

// Chooses a frame to start from: saved, sent before, or an example of the dialect.

type InsertProps = {
  readonly id: string;
  readonly examples: readonly Example[];
  readonly kept: StoredFrames;
  readonly onExample: (example: Example) => void;
  readonly onKept: (frame: StoredFrame) => void;
};

const MAX_LABEL_LENGTH = 80;

function InsertChoice({ id, examples, kept: { saved, sent }, onExample, onKept }: InsertProps) {
  function insert(value: string): void {
    const [group, index] = value.split(' ');
    const frame = (group === 'saved' ? saved : sent)[Number(index)];
    const example = examples[Number(index)];
    if (group === 'example' && example) onExample(example);
    else if (group !== 'example' && frame) onKept(frame);
  }
  return (
    <select id={id} value="" onChange={({ currentTarget }) => insert(currentTarget.value)}>
      <option value="" disabled>
        Choose a frame
      </option>
      {saved.length > 0 && (
        <optgroup label="Saved">
          {saved.map(({ name }, index) => (
            <option key={name} value={`saved ${index}`}>
              {name}
            </option>
          ))}
        </optgroup>
      )}
      {sent.length > 0 && (
        <optgroup label="History">
          {sent.map(({ text }, index) => (
            <option key={text} value={`sent ${index}`}>
              {labelOf(text)}
            </option>
          ))}
        </optgroup>
      )}
      <optgroup label="Examples">
        {examples.map(({ name, title }, index) => (
          <option key={`${name} ${title}`} value={`example ${index}`}>
            {name}: {title}
          </option>
        ))}
      </optgroup>
    </select>
  );
}

function labelOf(frame: string): string {
  const { type, text } = frameSummary(frame);
  return (text === '' ? type : `${type}: ${text}`).slice(0, MAX_LABEL_LENGTH);
}

// Saves a frame under a name; lists what is kept, to remove it.

type SaveProps = {
  readonly frame: StoredFrame;
  readonly kept: UseStoredFramesResult;
  readonly onClose: () => void;
};

function SaveDialog({ frame, kept, onClose }: SaveProps) {
  const { saved, sent, save, remove, clearSent } = kept;

  function confirm(fields: FormData): void {
    const name = String(fields.get('name')).trim();
    if (name === '') return;
    toast(
      save({ ...frame, name })
        ? `Saved “${name}”.`
        : 'Not saved: the frame is too long, or there are too many.',
    );
  }

  return (
    <Dialog title="Save frame" confirm="Save" onClose={onClose} onConfirm={confirm}>
      <Field label="Name" name="name" required maxLength={80} />
      <p className="hint">Frames are kept in this browser. One with the same name is replaced.</p>
      {saved.length > 0 && (
        <ul className="saved-frames" aria-label="Saved frames">
          {saved.map(({ name }) => (
            <li key={name}>
              <span>{name}</span>
              <Button variant="quiet" aria-label={`Remove ${name}`} onClick={() => remove(name)}>
                Remove
              </Button>
            </li>
          ))}
        </ul>
      )}
      {sent.length > 0 && (
        <Button variant="quiet" onClick={clearSent}>
          Clear history ({sent.length})
        </Button>
      )}
    </Dialog>
  );
}

// The frame being written, stored in the browser.

export type Side = 'left' | 'right';

const nameOf = (side: Side): string => `parlance.playground.${side}`;

type Draft = { readonly dialect: string; readonly text: string; readonly session: string };

/** Null if none is stored for the dialect. References to its session are replaced by the current one. */
export function readDraft(side: Side, dialect: string, session: string): string | null {
  const kept = parsed(readStorage('local', nameOf(side)) ?? '');
  return kept && kept.dialect === dialect ? inSession(kept.text, kept.session, session) : null;
}

export const writeDraft = (side: Side, draft: Draft): void =>
  writeStorage('local', nameOf(side), JSON.stringify(draft));

/** Replaces the session id, also as a part of channel names, paths and other ids. */
export function inSession(text: string, from: string, to: string): string {
  if (from === '' || to === '') return text;
  const id = quotable(from).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.replace(new RegExp(`(?<=["/_-])${id}(?=["/.?])`, 'g'), () => quotable(to));
}

/** As it stands between the quotes of JSON. */
const quotable = (text: string): string => JSON.stringify(text).slice(1, -1);

function parsed(kept: string): Draft | null {
  try {
    const { dialect, text, session } = JSON.parse(kept) as Readonly<Record<string, unknown>>;
    if (typeof dialect !== 'string' || typeof text !== 'string' || typeof session !== 'string') return null;
    return { dialect, text, session };
  } catch {
    return null; // missing or written by something else
  }
}

export const written = (frame: object): string => JSON.stringify(frame, null, 2);

export type Validity =
  | { readonly valid: true; readonly type: string }
  | { readonly valid: false; readonly problem: string };

export function validityOf(text: string): Validity {
  try {
    JSON.parse(text);
    return { valid: true, type: frameSummary(text).type };
  } catch (thrown) {
    return { valid: false, problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

// Frames kept in the browser, by user and dialect: those that were sent last, and those saved under a name.

export type StoredFrame = {
  readonly text: string;
  /** the session that it was written for */
  readonly session: string;
};
export type SavedFrame = StoredFrame & { readonly name: string };
export type StoredFrames = { readonly sent: readonly StoredFrame[]; readonly saved: readonly SavedFrame[] };

const MAX_SENT = 30;
const MAX_SAVED = 50;
/** Longer frames are not kept: the storage of a page is small. */
const MAX_FRAME_LENGTH = 20_000;

/** The last one first, each text once. */
export function withSent({ sent, saved }: StoredFrames, frame: StoredFrame): StoredFrames {
  if (frame.text.length > MAX_FRAME_LENGTH) return { sent, saved };
  return { saved, sent: [frame, ...sent.filter(({ text }) => text !== frame.text)].slice(0, MAX_SENT) };
}

/** Replaces one of the same name. Null if the frame is too long, or if there are too many. */
export function withSaved({ sent, saved }: StoredFrames, frame: SavedFrame): StoredFrames | null {
  const others = saved.filter(({ name }) => name !== frame.name);
  if (frame.text.length > MAX_FRAME_LENGTH || others.length >= MAX_SAVED) return null;
  return { sent, saved: [...others, frame].sort((one, other) => one.name.localeCompare(other.name)) };
}

export const withoutSaved = ({ sent, saved }: StoredFrames, removed: string): StoredFrames => ({
  sent,
  saved: saved.filter(({ name }) => name !== removed),
});

/** What is not valid is left out: anything on this origin may have written it. */
export function parseStoredFrames(text: string | null): StoredFrames {
  try {
    const { sent, saved } = JSON.parse(text ?? '{}') as Readonly<Record<string, unknown>>;
    const frames = (list: unknown): Partial<SavedFrame>[] => (Array.isArray(list) ? list : []);
    return {
      sent: frames(sent).filter(isFrame).slice(0, MAX_SENT),
      saved: frames(saved)
        .filter((frame): frame is SavedFrame => typeof frame?.name === 'string' && isFrame(frame))
        .slice(0, MAX_SAVED),
    };
  } catch {
    return { sent: [], saved: [] };
  }
}

const isFrame = (value: Partial<StoredFrame> | null): value is StoredFrame =>
  typeof value?.text === 'string' && typeof value.session === 'string';

export type UseStoredFramesResult = StoredFrames & {
  sentNow(frame: StoredFrame): void;
  /** False if it is too long, or if there are too many. */
  save(frame: SavedFrame): boolean;
  remove(name: string): void;
  clearSent(): void;
};

export function useStoredFrames(user: string, dialect: string): UseStoredFramesResult {
  const name = `parlance.playground.frames.${user}.${dialect}`;
  const [stored, setStored] = useState(() => parseStoredFrames(readStorage('local', name)));
  function save(next: StoredFrames): void {
    setStored(next);
    writeStorage('local', name, JSON.stringify(next));
  }
  return {
    ...stored,
    sentNow: (frame) => save(withSent(stored, frame)),
    save(frame) {
      const next = withSaved(stored, frame);
      if (next) save(next);
      return next !== null;
    },
    remove: (name) => save(withoutSaved(stored, name)),
    clearSent: () => save({ ...stored, sent: [] }),
  };
}
