/** Explains a patch in plain sentences: which files, and how many lines. */
import { code } from '../text/quote.ts';

type Change = {
  readonly verb: 'adds' | 'changes' | 'deletes';
  readonly path: string;
  to: string;
  plus: number;
  minus: number;
};

const HEADER = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
const VERBS = { Add: 'adds', Update: 'changes', Delete: 'deletes' } as const;
const MOST_FILES = 12;

export function explainPatch(patch: string): string {
  const changes = changesIn(patch);
  if (changes.length === 0) return 'The patch names no file: it changes nothing.';
  const sentences = changes.slice(0, MOST_FILES).map(sentence);
  const more =
    changes.length > MOST_FILES ? [`${changes.length - MOST_FILES} further files are changed.`] : [];
  const head = changes.length === 1 ? [] : [`The patch touches ${changes.length} files.`];
  return [...head, ...sentences, ...more].join(' ');
}

function changesIn(patch: string): Change[] {
  const changes: Change[] = [];
  for (const line of patch.split(/\r?\n/)) {
    const header = HEADER.exec(line);
    if (header?.[2]) {
      const verb = VERBS[header[1] as keyof typeof VERBS];
      changes.push({ verb, path: header[2].trim(), to: '', plus: 0, minus: 0 });
      continue;
    }
    const change = changes.at(-1);
    if (!change) continue;
    change.to = MOVE.exec(line)?.[1]?.trim() ?? change.to;
    if (line.startsWith('+')) change.plus++;
    if (line.startsWith('-')) change.minus++;
  }
  return changes;
}

function sentence({ verb, path, to, plus, minus }: Change): string {
  switch (verb) {
    case 'adds':
      return `It adds the file ${code(path)} with ${lines(plus)}.`;
    case 'deletes':
      return `It deletes the file ${code(path)}.`;
    case 'changes': {
      const moved = to === '' ? '' : ` and moves it to ${code(to)}`;
      return `It changes the file ${code(path)}${moved}: ${lines(plus)} added, ${lines(minus)} removed.`;
    }
  }
}

const lines = (count: number): string => `${count} ${count === 1 ? 'line' : 'lines'}`;
