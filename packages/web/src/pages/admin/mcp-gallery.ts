/** Well-known MCP servers, as their documentation starts them. Nothing is installed before one is added. */
import { type McpFields, NEW_SERVER } from './mcp-fields.ts';

export type Known = {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly fields: McpFields;
};

const program = (command: string, args: readonly string[], pairs: readonly string[] = []): McpFields => ({
  ...NEW_SERVER,
  command,
  args: args.join('\n'),
  pairs: pairs.map((name) => `${name}=`).join('\n'),
});

const npx = (name: string, ...args: string[]): McpFields => program('npx', ['-y', name, ...args]);

/** Signs in with OAuth, unless it gets headers. */
const address = (url: string): McpFields => ({ ...NEW_SERVER, kind: 'url', url });

export const GALLERY: readonly Known[] = [
  {
    name: 'files',
    title: 'Filesystem',
    about: 'Reads and writes files of the folders that you name',
    fields: npx('@modelcontextprotocol/server-filesystem', '/path/to/folder'),
  },
  {
    name: 'git',
    title: 'Git',
    about: 'Reads and changes a repository',
    fields: program('uvx', ['mcp-server-git', '--repository', '/path/to/repository']),
  },
  {
    name: 'fetch',
    title: 'Fetch',
    about: 'Reads pages of the web as Markdown',
    fields: program('uvx', ['mcp-server-fetch']),
  },
  {
    name: 'memory',
    title: 'Memory',
    about: 'Remembers facts between sessions, as a graph',
    fields: npx('@modelcontextprotocol/server-memory'),
  },
  {
    name: 'time',
    title: 'Time',
    about: 'Tells the time, and converts time zones',
    fields: program('uvx', ['mcp-server-time']),
  },
  {
    name: 'playwright',
    title: 'Playwright',
    about: 'Drives a browser',
    fields: npx('@playwright/mcp@latest', '--headless'),
  },
  {
    name: 'chrome',
    title: 'Chrome DevTools',
    about: 'Inspects pages in Chrome: console, network, performance',
    fields: npx('chrome-devtools-mcp@latest', '--headless'),
  },
  {
    name: 'context7',
    title: 'Context7',
    about: 'Current documentation of libraries',
    fields: npx('@upstash/context7-mcp'),
  },
  {
    name: 'brave',
    title: 'Brave Search',
    about: 'Searches the web; needs an API key',
    fields: program('npx', ['-y', '@brave/brave-search-mcp-server'], ['BRAVE_API_KEY']),
  },
  {
    name: 'github',
    title: 'GitHub',
    about: 'Repositories, issues and pull requests; with a personal access token as “Bearer …”',
    fields: { ...address('https://api.githubcopilot.com/mcp/'), pairs: 'Authorization=' },
  },
  {
    name: 'linear',
    title: 'Linear',
    about: 'Issues and projects',
    fields: address('https://mcp.linear.app/mcp'),
  },
  {
    name: 'notion',
    title: 'Notion',
    about: 'Pages and databases',
    fields: address('https://mcp.notion.com/mcp'),
  },
  {
    name: 'sentry',
    title: 'Sentry',
    about: 'Errors and traces of your programs',
    fields: address('https://mcp.sentry.dev/mcp'),
  },
];
