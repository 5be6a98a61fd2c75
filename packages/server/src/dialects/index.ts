/** All dialects. A new one is a folder, one line here and its name in `names.ts`, which has the order. */
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
import { DIALECT_NAMES, type DialectName } from './names.ts';
import { native } from './native/dialect.ts';
import { openai } from './openai/dialect.ts';
import { pusher } from './pusher/dialect.ts';

const ALL: { readonly [Name in DialectName]: Dialect<Name> } = {
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
};

export const DIALECTS: readonly Dialect<DialectName>[] = DIALECT_NAMES.map((name) => ALL[name]);

/** Dialects that show sessions. */
export const PROJECTED: readonly ProjectedDialect<DialectName>[] = DIALECTS.filter(
  (dialect) => dialect.projection !== undefined,
) as ProjectedDialect<DialectName>[];
