/** Files of working folders. */
import { z } from 'zod';
import { CallId, SessionId, TurnId } from '../ids.ts';

const place = {
  session: SessionId.optional().describe('the session whose folder it is; default: one that has not begun'),
  agent: z
    .string()
    .max(200)
    .optional()
    .describe('without `session`: the agent, whose tools decide what may be read; default: the first one'),
  cwd: z
    .string()
    .max(4_096)
    .optional()
    .describe('without `session`: an absolute path; default: the server’s folder'),
};

const path = z.string().min(1).max(4_096).describe('relative to the working folder');

export const FilesQuery = z.object({
  ...place,
  path: path.default('.'),
  q: z
    .string()
    .max(200)
    .optional()
    .describe('instead of `path`: part of a path, to search for; empty: what was written last'),
});
export type FilesQuery = z.input<typeof FilesQuery>;

export const ListedFile = z.object({
  name: z.string(),
  kind: z.enum(['file', 'folder', 'link', 'other']),
  size: z.number().int().optional().describe('in bytes; of files'),
  changedAt: z.iso.datetime(),
});
export type ListedFile = z.infer<typeof ListedFile>;

export const FileList = z.object({
  entries: z.array(ListedFile).optional().describe('folders first, each by name'),
  paths: z
    .array(z.string())
    .optional()
    .describe('what `q` has found, the best match first, without what git ignores; a folder ends in a slash'),
  complete: z.boolean().describe('false: there are more, or the folder is too large to search all of it'),
});
export type FileList = z.infer<typeof FileList>;

export const FileVersionsQuery = z.object({ session: SessionId, path });
export type FileVersionsQuery = z.input<typeof FileVersionsQuery>;

export const FileQuery = z.object({
  ...place,
  path,
  version: z
    .string()
    .max(100)
    .optional()
    .describe('a version of `/v1/files/versions`; default: the file as it is'),
});
export type FileQuery = z.input<typeof FileQuery>;

export const FileVersion = z.object({
  version: z.string(),
  isCurrent: z.literal(true).optional().describe('the file has this content now; only the last one can'),
  by: z
    .object({ turn: TurnId, call: CallId, seq: z.number().int().describe('an event of the turn') })
    .optional()
    .describe('the call that wrote it; absent for the content from before the first call'),
});
export type FileVersion = z.infer<typeof FileVersion>;

export const FileVersions = z.object({ versions: z.array(FileVersion) });
export type FileVersions = z.infer<typeof FileVersions>;
