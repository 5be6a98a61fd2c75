/**
 * Loads the operator's tools: modules named in the configuration. Their code is trusted and runs in this
 * process.
 */
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Tool } from '../../core/ports/tool.ts';
import { messageOf, readDefinition } from './definition.ts';
import { provideModule } from './provided-module.ts';
import { ownTool } from './tool.ts';

/** A module that does not finish loading fails the startup. */
const LOADING_MS = 30_000;

/** `taken` has the names of other tools. Throws a one-line error that names the file. */
export async function loadOwnTools(paths: readonly string[], taken: readonly string[]): Promise<Tool[]> {
  provideModule();
  const tools = new Map<string, Tool>();
  for (const path of paths) {
    const exports = await exportsOf(path);
    if (exports.length === 0) throw problem(path, 'exports no tool');
    for (const exported of exports) {
      const tool = ownTool(explained(path, () => readDefinition(exported)));
      const { name } = tool;
      if (tools.has(name) || taken.includes(name) || name.startsWith('mcp_'))
        throw problem(path, `has a tool ${name}, a name that another tool has`);
      tools.set(name, tool);
    }
  }
  return [...tools.values()];
}

/** Every export must be a tool. */
async function exportsOf(path: string): Promise<readonly unknown[]> {
  if (!existsSync(path)) throw problem(path, 'does not exist');
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not done after ${LOADING_MS / 1000} s`)), LOADING_MS);
  try {
    return Object.values(await Promise.race([import(pathToFileURL(path).href), late]));
  } catch (thrown) {
    throw problem(path, `cannot be loaded: ${complaintOf(thrown)}`, thrown);
  } finally {
    clearTimeout(timer);
  }
}

/** A file with several syntax errors throws them together; shows the first one with its line. */
function complaintOf(thrown: unknown): string {
  const first: unknown = thrown instanceof AggregateError ? thrown.errors[0] : thrown;
  const line = first instanceof BuildMessage ? first.position?.line : undefined;
  return line === undefined ? messageOf(first) : `line ${line}: ${messageOf(first)}`;
}

function explained<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (thrown) {
    throw problem(path, messageOf(thrown), thrown);
  }
}

const problem = (path: string, reason: string, cause?: unknown): Error =>
  new Error(`the tool module ${path} ${reason}`, { cause });
