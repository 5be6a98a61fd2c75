/** Earlier messages of the user, in a persistent file. */

import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parsedJson } from '@parlance/protocol/json-text';
import { readPrivate, stateFolder, writePrivate } from '../connection/private-file.ts';

const MAX_MESSAGES = 1_000;
/** Larger files are shortened. */
const MAX_BYTES = 1024 * 1024;

const historyFile = (): string => join(stateFolder(), 'history.jsonl');

/** Latest first. An unreadable file counts as empty. */
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
    // A process that was killed while writing leaves half a line.
    const value = parsedJson(line);
    if (typeof value === 'string') messages.push(value);
  }
  return messages.slice(-MAX_MESSAGES);
}

/** As in a shell, skips messages that start with a blank or repeat the last one. */
export function remember(message: string, history: readonly string[]): readonly string[] {
  if (message.trim() === '' || message.startsWith(' ') || history[0] === message) return history;
  const path = historyFile();
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    appendFileSync(path, `${JSON.stringify(message)}\n`, { mode: 0o600 });
    if (statSync(path).size > MAX_BYTES) shorten(path);
  } catch {
    // The home folder is not writable: the history ends with the process.
  }
  return [message, ...history].slice(0, MAX_MESSAGES);
}

function shorten(path: string): void {
  const messages = messagesIn(readPrivate(path) ?? '').slice(-MAX_MESSAGES / 2);
  writePrivate(path, messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
}
