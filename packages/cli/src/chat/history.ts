/** Earlier messages of the user, in a file that survives the terminal. */
import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readPrivate, stateFolder, writePrivate } from '../connection/private-file.ts';

const MOST_MESSAGES = 1_000;
/** The file is shortened when it is larger. */
const MOST_BYTES = 1024 * 1024;

const historyFile = (): string => join(stateFolder(), 'history.jsonl');

/** The last one first. An unreadable file is the same as none. */
export function readHistory(): string[] {
  try {
    return messagesIn(readPrivate(historyFile()) ?? '').reverse();
  } catch {
    return [];
  }
}

function messagesIn(text: string): string[] {
  const messages: string[] = [];
  for (const line of text.split('\n')) {
    try {
      const value: unknown = JSON.parse(line || 'null');
      if (typeof value === 'string') messages.push(value);
    } catch {
      // The line of a process that was killed while it wrote.
    }
  }
  return messages.slice(-MOST_MESSAGES);
}

/** As in a shell, a message that starts with a blank is not kept, nor one that repeats the last. */
export function remember(message: string, history: readonly string[]): readonly string[] {
  if (message.trim() === '' || message.startsWith(' ') || history[0] === message) return history;
  const path = historyFile();
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    appendFileSync(path, `${JSON.stringify(message)}\n`, { mode: 0o600 });
    if (statSync(path).size > MOST_BYTES) shorten(path);
  } catch {
    // A home folder that cannot be written to: the history ends with the process.
  }
  return [message, ...history].slice(0, MOST_MESSAGES);
}

function shorten(path: string): void {
  const messages = messagesIn(readPrivate(path) ?? '').slice(-MOST_MESSAGES / 2);
  writePrivate(path, messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
}
