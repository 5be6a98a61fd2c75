import { join } from 'node:path';

/** The built console. This file is as deep in its package as the built program is, so one relative path serves both. */
export const CONSOLE_FOLDER = join(import.meta.dir, '../../web/dist');

/** The built documentation, found the same way. */
export const DOCS_FOLDER = join(import.meta.dir, '../../../docs/.vitepress/dist');
