/** Loads modules of the operator. Their code is trusted and runs in this process. */
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { provideModule } from './provided-module.ts';

/** A module that does not finish loading fails the startup. */
const LOADING_MS = 30_000;

/** Every export must be a definition of that kind. Throws a one-line error that names the file. */
export async function exportsOf(kind: string, path: string): Promise<readonly unknown[]> {
  provideModule();
  if (!existsSync(path)) throw problem(kind, path, 'does not exist');
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not done after ${LOADING_MS / 1000} s`)), LOADING_MS);
  try {
    return Object.values(await Promise.race([import(pathToFileURL(path).href), late]));
  } catch (thrown) {
    throw problem(kind, path, `cannot be loaded: ${complaintOf(thrown)}`, thrown);
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

export const problem = (kind: string, path: string, reason: string, cause?: unknown): Error =>
  new Error(`the ${kind} module ${path} ${reason}`, { cause });

export const messageOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).split('\n', 1)[0]?.slice(0, 500) ?? '';

/** Compared by name, since the module may have its own copy of the class. */
export const isToolError = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && thrown.name === 'ToolError';
