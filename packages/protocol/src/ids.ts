/** Branded ids: one string type per kind of id. */
import { z } from 'zod';

/** Name of a session, in any dialect. Unique per principal, not globally. */
export const SessionId = z
  .string()
  .min(1)
  .max(200)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: refuses control characters
  .regex(/^[^\u0000-\u001f\u007f]+$/, 'must not contain control characters')
  .refine((id) => id.isWellFormed(), 'must be valid Unicode')
  .brand<'SessionId'>();
export type SessionId = z.infer<typeof SessionId>;

export const PrincipalId = z.string().min(1).max(100).brand<'PrincipalId'>();
export type PrincipalId = z.infer<typeof PrincipalId>;

export const InputId = z.string().min(1).brand<'InputId'>();
export type InputId = z.infer<typeof InputId>;

export const TurnId = z.string().min(1).brand<'TurnId'>();
export type TurnId = z.infer<typeof TurnId>;

export const BlockId = z.string().min(1).brand<'BlockId'>();
export type BlockId = z.infer<typeof BlockId>;

export const CallId = z.string().min(1).brand<'CallId'>();
export type CallId = z.infer<typeof CallId>;

export const ApprovalId = z.string().min(1).brand<'ApprovalId'>();
export type ApprovalId = z.infer<typeof ApprovalId>;

export const QuestionId = z.string().min(1).brand<'QuestionId'>();
export type QuestionId = z.infer<typeof QuestionId>;

/** One socket or request of a client. */
export const ConnectionId = z.string().min(1).brand<'ConnectionId'>();
export type ConnectionId = z.infer<typeof ConnectionId>;
