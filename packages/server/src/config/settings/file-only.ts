/** Settings that are only available in the config file. */
import type { z } from 'zod';
import { McpServers } from '../../tools/mcp/servers.ts';
import { agents, domains, rules } from '../lists.ts';
import type { Setting } from './setting.ts';

/** A setting available only in the config file. */
const fileOnly = <Schema extends z.ZodType>(schema: () => Schema, fallback: object, description: string) => ({
  env: [],
  flag: null,
  argument: '',
  fallback,
  fallbackText: 'none',
  schema,
  secret: false,
  description,
});

export const FILE_ONLY = {
  rules: fileOnly(
    rules,
    [],
    'rules for calls: [{tool, pattern, decision: allow | ask | deny}], the strictest match wins',
  ),
  agents: fileOnly(agents, [], 'additional agents, or replacements of built-in ones'),
  domains: fileOnly(domains, [], 'additional domains, or replacements of built-in ones'),
  mcpServers: {
    ...fileOnly(() => McpServers, {}, 'Model Context Protocol servers whose tools are offered'),
    secret: true,
  },
} as const satisfies Record<string, Setting>;
