/** Server frames and their constructors. */
import type { Ask, DurableEvent } from '@parlance/protocol';
import type { Pieces } from '../../http/connection.ts';
import { nthId } from '../kit/ids.ts';
import type { Details } from './faults.ts';
import {
  answerId,
  answerText,
  assistantItem,
  type contextCompacted,
  contextInfo,
  type Item,
  systemItem,
} from './items.ts';

export type Body =
  | { id: string; type: 'response_item'; payload: Item }
  | { id: string; type: 'loading_state'; payload: { loading: boolean } }
  | {
      id: string;
      type: 'approval_request';
      payload: { command: string[]; applyPatch?: { patch: string }; requestId: string };
    }
  | { id: string; type: 'agent_finished'; payload: { responseId: string; sessionId: string } }
  | { id: string; type: 'context_info'; payload: ReturnType<typeof contextInfo> }
  | { id: string; type: 'context_compacted'; payload: ReturnType<typeof contextCompacted> }
  | {
      id: string;
      type: 'error';
      payload: { message: string; details: Details };
    };

/** A response id contains its session, so that a client can continue from it on a new socket. */
const responseId = ({ session, turn }: DurableEvent<'turn.ended' | 'turn.cancelled'>): string =>
  `resp_${session}.${turn}`;

export const sessionOfResponse = (id: string): string =>
  id.slice('resp_'.length, Math.max(0, id.lastIndexOf('.')));

/** Called for each token. */
export const piece = (id: string, block: string, text: string): Body => ({
  id,
  type: 'response_item',
  payload: assistantItem(block, text),
});

/** Pieces of one answer share its id, and clients append them. */
function pieceOf(body: Body): string | null {
  return body.type === 'response_item' ? answerId(body.payload) : null;
}

function pieceText(body: Body): string {
  return body.type === 'response_item' ? answerText(body.payload) : '';
}

function withText(body: Body, text: string): Body {
  return body.type === 'response_item' ? { ...body, payload: assistantItem(body.payload.id, text) } : body;
}

export const pieces: Pieces<Body> = { key: pieceOf, text: pieceText, with: withText };

export const items = (id: string, payloads: Item[]): Body[] =>
  payloads.map((payload, n) => ({ id: nthId(id, n), type: 'response_item', payload }));

export const loading = (id: string, isLoading: boolean): Body => ({
  id,
  type: 'loading_state',
  payload: { loading: isLoading },
});

export const approvalRequest = (id: string, requestId: string, { command, patch }: Ask): Body => ({
  id,
  type: 'approval_request',
  payload: { command, ...(patch === undefined ? {} : { applyPatch: { patch } }), requestId },
});

/** Deployed clients show only the text of a patch, which does not tell whether the file exists. */
export function replacing(id: string, itemId: string, { replaces = [] }: Ask): Body[] {
  if (replaces.length === 0) return [];
  const files = replaces.length === 1 ? 'file' : 'files';
  return items(id, [
    systemItem(itemId, `⚠️ This patch replaces the existing ${files} ${replaces.join(', ')}.`),
  ]);
}

export const finished = (event: DurableEvent<'turn.ended' | 'turn.cancelled'>): Body[] => [
  loading(event.id, false),
  {
    id: nthId(event.id, 1),
    type: 'agent_finished',
    payload: { responseId: responseId(event), sessionId: event.session },
  },
];

/**
 * Sent whatever the outcome of the turn. Turns stored by earlier versions have the usage only if they
 * succeeded.
 */
export const use = (
  id: string,
  { session, context }: DurableEvent<'turn.ended' | 'turn.cancelled' | 'turn.failed'>,
): Body[] => (context ? [{ id, type: 'context_info', payload: contextInfo(session, context) }] : []);
