/**
 * Names of the dialects, apart from the dialects: commands and settings need the names only, and loading all dialects
 * takes longer than most commands. If two share a path, the first here is tried first.
 */
export const DIALECT_NAMES = [
  'a2a',
  'acp',
  'agentloop',
  'agui',
  'aisdk',
  'anthropic',
  'broadcast',
  'conversations',
  'copilot',
  'extension',
  'mcp',
  'native',
  'openai',
  'pusher',
] as const;

export type DialectName = (typeof DIALECT_NAMES)[number];
