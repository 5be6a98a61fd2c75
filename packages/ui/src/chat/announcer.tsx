import { pendingQuestion, type SessionView } from '@parlance/sdk';
import type { MarkedToken, Token } from 'marked';
import { useEffect, useRef, useState } from 'react';
import { decodeEntities, isDetails, isMath, isNote, lexedForPages } from '../markdown/lex.ts';
import { saidIn } from './rows.ts';

/** Maximum length of the beginning of an answer that is read, as Markdown. */
const MOST = 2_000;

/** The sentences that are complete. */
function sentencesOf(text: string): string {
  const end = [...text.matchAll(/[.!?…:]["')\]”’]*(?=\s)|\n/g)].at(-1);
  return end ? text.slice(0, end.index + end[0].length) : '';
}

/** Reads to screen readers what happens, and the answer as it grows: each sentence once, without marks. */
export function Announcer({ view }: { view: SessionView }) {
  const [message, setMessage] = useState('');
  const read = useRef<{ readonly turn: string; readonly text: string } | null>(null);
  const last = view.entries.at(-1);
  const turn = last?.kind === 'turn' ? last : null;
  const status = turn?.state.status ?? 'none';
  const pending = view.pending?.approval;
  const question = pendingQuestion(view);
  const said = turn ? saidIn(turn) : '';
  const begun = said.slice(0, MOST);
  const isLong = said.length > MOST;

  // biome-ignore lint/correctness/useExhaustiveDependencies: announce state changes, not every token
  useEffect(() => {
    if (!turn) return;
    if (view.pending) setMessage(`Approval needed: ${view.pending.ask.description}`);
    else if (question) setMessage(`Question: ${question.title ?? question.questions[0]?.text ?? ''}`);
    else if (turn.state.status === 'running') setMessage(`${turn.agent.name} is working.`);
    else if (turn.state.status === 'failed') setMessage(`Turn failed: ${turn.state.fault.message}`);
    else if (turn.state.status === 'cancelled') setMessage('Stopped.');
  }, [status, pending, question?.question, turn?.turn]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each sentence of the beginning
  useEffect(() => {
    if (!turn || begun === '') return;
    const before = read.current?.turn === turn.turn ? read.current.text : '';
    const isOver = status !== 'running' || isLong;
    const text = isOver ? plainText(begun) : sentencesOf(plainText(begun));
    if (text === before) return;
    read.current = { turn: turn.turn, text };
    // What a mark has changed is read from where it differs.
    const next = text.startsWith(before)
      ? text.slice(before.length)
      : text.slice(Math.min(before.length, text.length));
    const rest = isLong ? ' … The answer continues.' : '';
    if (next.trim() !== '' || rest !== '') setMessage(`${next.trim()}${rest}`);
  }, [turn?.turn, begun, isLong, status]);

  return (
    <div className="unseen" role="status" aria-live="polite">
      {message}
    </div>
  );
}

// Markdown as it is read aloud: its words without marks.

/** Blocks are lines. Code is not read, only named. */
const plainText = (markdown: string): string =>
  lexedForPages(null, markdown, false)
    .blocks.map((block) => blockText(block).replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');

function blockText(token: Token): string {
  const block = token as MarkedToken;
  switch (block.type) {
    case 'code':
      return `Code: ${block.lang || 'text'}.`;
    case 'list':
      return block.items.map(({ tokens }) => `${textOf(tokens).trim()}\n`).join('');
    case 'table':
      return [block.header, ...block.rows]
        .map((row) => row.map(({ tokens }) => textOf(tokens)).join(', '))
        .join('. ');
    case 'space':
    case 'def':
    case 'hr':
      return '';
    default:
      return textOf([token]);
  }
}

const textOf = (tokens: readonly Token[]): string =>
  tokens
    .map((token): string => {
      if (isMath(token)) return token.tex;
      if (isNote(token))
        return token.type === 'note' ? '' : `Footnote ${token.label}: ${textOf(token.tokens)}`;
      if (isDetails(token)) return `${textOf(token.summary)}\n${textOf(token.tokens)}`;
      if (['code', 'list', 'table', 'space', 'hr'].includes(token.type)) return blockText(token);
      if ('tokens' in token && token.tokens) return textOf(token.tokens);
      if (token.type === 'br') return ' ';
      // A mark whose end has not been streamed yet is not read, either.
      return 'text' in token ? decodeEntities(token.text).replace(/\*{1,3}|`+|~~/g, '') : '';
    })
    .join('');
