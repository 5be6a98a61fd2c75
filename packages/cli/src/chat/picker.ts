/** A list for choosing a session. Typing filters it. */
import type { Session } from '@parlance/sdk';
import { ago } from '../connection/session-list.ts';
import { EMPTY_DRAFT, edited, inserted } from '../terminal/editor.ts';
import type { Key } from '../terminal/keys.ts';
import { cut, spread, widthOf } from '../terminal/layout.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import type { Frame } from '../terminal/screen.ts';
import type { RenderContext } from './render.ts';

const STATUS = { idle: '', running: 'Running', waiting: 'Needs approval', failed: 'Failed' } as const;

export type PickerResult = 'changed' | 'closed' | { readonly session: Session };

export class Picker {
  #filter = EMPTY_DRAFT;
  #at = 0;

  constructor(private readonly sessions: readonly Session[]) {}

  get #shown(): readonly Session[] {
    const search = this.#filter.text.toLowerCase();
    return this.sessions.filter(({ title, id }) => `${title} ${id}`.toLowerCase().includes(search));
  }

  key(key: Key): PickerResult {
    if (key.kind !== 'key') this.#filterBy(inserted(this.#filter, safeText(key.text).replaceAll('\n', ' ')));
    else if (key.name === 'escape' || key.name === 'ctrl-c') return 'closed';
    else if (key.name === 'enter') {
      const session = this.#shown[this.#at];
      return session ? { session } : 'changed';
    } else if (key.name === 'up' || key.name === 'ctrl-p') this.#at = Math.max(0, this.#at - 1);
    else if (key.name === 'down' || key.name === 'ctrl-n')
      this.#at = Math.max(0, Math.min(this.#shown.length - 1, this.#at + 1));
    else this.#filterBy(edited(this.#filter, key.name) ?? this.#filter);
    return 'changed';
  }

  #filterBy(filter: typeof EMPTY_DRAFT): void {
    if (filter.text !== this.#filter.text) this.#at = 0;
    this.#filter = filter;
  }

  frame({ theme, width, height }: RenderContext): Frame {
    const rows = Math.max(1, Math.min(12, height - 5));
    const all = this.#shown;
    const first = Math.max(0, this.#at - rows + 1);
    const lines = all.slice(first, first + rows).map((session, index) => {
      const mark = first + index === this.#at ? theme.cyan('❯ ') : '  ';
      const status = STATUS[session.status] && `${theme.yellow(STATUS[session.status])}  `;
      const line = spread(
        `${mark}${safeLine(session.title) || theme.dim('Untitled')}`,
        `${status}${theme.dim(ago(session.updatedAt))}`,
        width,
      );
      return first + index === this.#at ? theme.bold(line) : line;
    });
    const prompt = 'Session: ';
    return {
      lines: [
        '',
        theme.bold(prompt) + this.#filter.text,
        ...(lines.length === 0 ? [theme.dim('  No sessions match.')] : lines),
        cut(theme.dim('Enter opens, Esc goes back, type to filter'), width),
      ],
      cursor: {
        row: 1,
        column: Math.min(width, widthOf(prompt + this.#filter.text.slice(0, this.#filter.cursor))),
      },
    };
  }
}
