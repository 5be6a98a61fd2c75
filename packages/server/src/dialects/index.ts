/** All dialects. A new one is a folder and one line here. If two share a path, the first here is tried first. */
import { a2a } from './a2a/dialect.ts';
import { acp } from './acp/dialect.ts';
import { agentloop } from './agentloop/dialect.ts';
import { agui } from './agui/dialect.ts';
import { aisdk } from './aisdk/dialect.ts';
import { anthropic } from './anthropic/dialect.ts';
import { broadcast } from './broadcast/dialect.ts';
import { conversations } from './conversations/dialect.ts';
import { copilot } from './copilot/dialect.ts';
import { extension } from './extension/dialect.ts';
import type { Dialect, ProjectedDialect } from './kit/dialect.ts';
import { mcp } from './mcp/dialect.ts';
import { native } from './native/dialect.ts';
import { openai } from './openai/dialect.ts';
import { pusher } from './pusher/dialect.ts';

const ALL = [
  a2a,
  acp,
  agentloop,
  agui,
  aisdk,
  anthropic,
  broadcast,
  conversations,
  copilot,
  extension,
  mcp,
  native,
  openai,
  pusher,
] as const;

export type DialectName = (typeof ALL)[number]['name'];

export const DIALECTS: readonly Dialect<DialectName>[] = ALL;

/** Dialects that show sessions. */
export const PROJECTED: readonly ProjectedDialect<DialectName>[] = ALL.filter(
  (dialect) => dialect.projection !== undefined,
) as ProjectedDialect<DialectName>[];

export const DIALECT_NAMES: readonly DialectName[] = ALL.map(({ name }) => name);
