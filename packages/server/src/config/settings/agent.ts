/** The default agent and its tools. */
import { flag, fraction, oneOf, text, textList } from '../values.ts';
import type { Setting } from './setting.ts';
import { vendorAddress, vendorKey } from './vendor.ts';

export const AGENT = {
  serperKey: vendorKey(['SERPER_API_KEY'], 'web search (Serper)'),
  serperBaseUrl: vendorAddress(['SERPER_BASE_URL'], 'web search'),
  instructions: {
    env: ['INSTRUCTIONS'],
    flag: '--instructions',
    argument: 'TEXT',
    fallback: undefined,
    fallbackText: 'built in',
    schema: text,
    description: 'system instructions for the agent',
  },
  cwd: {
    env: ['WORKING_DIRECTORY'],
    flag: '--cwd',
    argument: 'FOLDER',
    fallback: undefined,
    fallbackText:
      "the current folder; ./workspace, which is created, if that is Parlance's own checkout or installation",
    schema: text,
    description: 'working directory of tools',
  },
  tools: {
    env: ['PARLANCE_TOOLS'],
    flag: '--tools',
    argument: 'FILE',
    fallback: [],
    schema: textList,
    repeatable: true,
    description: 'a module with own tools, in TypeScript or JavaScript; it runs inside of the server',
  },
  trustedFolders: {
    env: ['PARLANCE_TRUSTED_FOLDERS'],
    flag: '--trust',
    argument: 'FOLDER',
    fallback: [],
    schema: textList,
    repeatable: true,
    description:
      'a folder whose files the agent may follow, with all that is in it; without this, a repository inside the working directory is untrusted content',
  },
  approval: {
    env: ['TOOL_USE_APPROVAL_MODE'],
    flag: '--approval',
    argument: 'MODE',
    fallback: 'suggest',
    schema: () => oneOf(['suggest', 'auto-edit', 'full-auto']),
    description: 'what runs without approval: suggest, auto-edit or full-auto',
  },
  fullAutoAsRoot: {
    env: ['PARLANCE_FULL_AUTO_AS_ROOT'],
    flag: '--full-auto-as-root',
    argument: 'on|off',
    fallback: false,
    fallbackText: 'off',
    schema: flag,
    description: 'whether full-auto is available if the server runs as root',
  },
  contextStrategy: {
    env: ['CONTEXT_STRATEGY'],
    flag: '--context-strategy',
    argument: 'NAME',
    fallback: 'threshold',
    schema: () => oneOf(['threshold', 'none']),
    description: 'when a long context is compacted automatically: threshold or none',
  },
  contextThreshold: {
    env: ['CONTEXT_COMPACTION_THRESHOLD'],
    flag: '--context-threshold',
    argument: 'FRACTION',
    fallback: 0.8,
    schema: fraction,
    description: 'fraction of the context window above which it is compacted',
  },
} as const satisfies Record<string, Setting>;
