/** The input field: text, history, and a menu of commands or files. */
import type { InputMode } from '@parlance/protocol';
import { type Draft, draftOf, EMPTY_DRAFT, edited, inserted, vertically } from '../terminal/editor.ts';
import type { Key } from '../terminal/keys.ts';
import { safeText } from '../terminal/safe-text.ts';
import { droppedPaths } from './attach.ts';

export type MenuChoice = {
  /** the draft after choosing this item */
  readonly draft: Draft;
  readonly label: string;
  readonly about: string;
  /** choosing it with Enter also sends it */
  readonly complete: boolean;
};

export type ComposerOptions = {
  readonly choicesFor: (draft: Draft) => readonly MenuChoice[];
  /** latest message first */
  readonly history: () => readonly string[];
};

/** `ignored`: the key has another meaning. */
export type KeyResult = 'changed' | 'ignored' | { readonly send: string; readonly mode: InputMode };

/** What a message does while a turn runs. Ctrl-Enter exists only in terminals that report it. */
const SEND: Readonly<Record<string, InputMode>> = {
  enter: 'queue',
  'ctrl-s': 'steer',
  'ctrl-x': 'supersede',
  'ctrl-enter': 'supersede',
};

const NEW_LINE = new Set(['alt-enter', 'ctrl-j', 'shift-enter']);

export class Composer {
  #draft = EMPTY_DRAFT;
  /** position in the history; -1 for the draft */
  #at = -1;
  #unsent = EMPTY_DRAFT;
  #chosen = 0;
  #isDismissed = false;

  constructor(private readonly options: ComposerOptions) {}

  get draft(): Draft {
    return this.#draft;
  }

  get choices(): readonly MenuChoice[] {
    return this.#isDismissed ? [] : this.options.choicesFor(this.#draft);
  }

  get chosen(): number {
    return Math.min(this.#chosen, this.choices.length - 1);
  }

  get isEmpty(): boolean {
    return this.#draft.text === '';
  }

  set(text: string): void {
    this.#change(draftOf(text));
    this.#at = -1;
  }

  key(key: Key): KeyResult {
    if (key.kind === 'text') return this.#change(inserted(this.#draft, key.text));
    if (key.kind === 'paste') return this.#paste(key.text);
    const { name } = key;
    if (this.choices.length > 0) {
      const result = this.#menuKey(name);
      if (result !== 'ignored') return result;
    }
    if (NEW_LINE.has(name)) return this.#change(inserted(this.#draft, '\n'));
    const mode = SEND[name];
    if (mode) return this.#enter(mode);
    if (name === 'up' || name === 'ctrl-p') return this.#vertical('up');
    if (name === 'down' || name === 'ctrl-n') return this.#vertical('down');
    const draft = edited(this.#draft, name);
    return draft === null ? 'ignored' : this.#change(draft);
  }

  #change(draft: Draft): 'changed' {
    if (draft.text !== this.#draft.text) {
      this.#chosen = 0;
      this.#isDismissed = false;
    }
    this.#draft = draft;
    return 'changed';
  }

  #paste(text: string): KeyResult {
    const clean = text.split('\t').map(safeText).join('\t');
    return this.#change(inserted(this.#draft, droppedPaths(clean) ?? clean));
  }

  /** A backslash before Enter continues the message on the next line. */
  #enter(mode: InputMode): KeyResult {
    const { text, cursor } = this.#draft;
    if (text.slice(0, cursor).endsWith('\\'))
      return this.#change({ text: `${text.slice(0, cursor - 1)}\n${text.slice(cursor)}`, cursor });
    if (text.trim() === '') return 'changed';
    return { send: text, mode };
  }

  #menuKey(name: string): KeyResult {
    const { choices, chosen } = this;
    const choice = choices[chosen];
    if (name === 'up') this.#chosen = (chosen + choices.length - 1) % choices.length;
    else if (name === 'down') this.#chosen = (chosen + 1) % choices.length;
    else if (name === 'escape') this.#isDismissed = true;
    else if (choice && (name === 'tab' || name === 'enter')) {
      this.#change(choice.draft);
      return name === 'enter' && choice.complete ? { send: choice.draft.text, mode: 'queue' } : 'changed';
    } else return 'ignored';
    return 'changed';
  }

  /** Moves between the lines of the draft, then through the history. */
  #vertical(direction: 'up' | 'down'): KeyResult {
    const moved = vertically(this.#draft, direction);
    if (moved) return this.#change(moved);
    const history = this.options.history();
    const next = this.#at + (direction === 'up' ? 1 : -1);
    if (next < -1 || next >= history.length) return 'changed';
    if (this.#at === -1) this.#unsent = this.#draft;
    this.#at = next;
    this.#change(next === -1 ? this.#unsent : draftOf(history[next] ?? ''));
    // A recalled command does not open the menu, so that the arrow keys keep moving through the history.
    this.#isDismissed = true;
    return 'changed';
  }
}
