import { join } from 'node:path';
import { isCompiled } from './lib/compiled.ts';

/**
 * This file has the same depth in its package as the built program. The executable contains the folders of
 * the repository.
 */
const ROOT = join(import.meta.dir, isCompiled ? '.' : '../../..');

/** The built console. */
export const CONSOLE_FOLDER = join(ROOT, 'packages/web/dist');

/** The built documentation. */
export const DOCS_FOLDER = join(ROOT, 'docs/.vitepress/dist');

/** Builds it. Only in a clone. */
export const DOCS_BUILDER = join(ROOT, 'scripts/build-docs.ts');
