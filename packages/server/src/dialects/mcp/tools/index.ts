/** The tools, in the order in which they are listed. */
import { answerApproval } from './answer-approval.ts';
import { cancelTurn } from './cancel-turn.ts';
import { listApprovals } from './list-approvals.ts';
import { listSessions } from './list-sessions.ts';
import { readSession } from './read-session.ts';
import { sendMessage } from './send-message.ts';
import type { Tool } from './tool.ts';

export const TOOLS: readonly Tool[] = [
  sendMessage,
  answerApproval,
  listApprovals,
  listSessions,
  readSession,
  cancelTurn,
];

export const toolNamed = (name: unknown): Tool | undefined => TOOLS.find((tool) => tool.name === name);
