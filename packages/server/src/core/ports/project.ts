/** What the working folder of a session, and the operator, tell its agents: instructions and skills. */
import type { PrincipalId, ProjectFile } from '@parlance/protocol';
import type { Tool } from './tool.ts';

export type ProjectPlace = {
  readonly owner: PrincipalId;
  /** absolute path of the working folder */
  readonly root: string;
};

export type Skill = {
  readonly name: string;
  readonly description: string;
  /** `project`: a person has accepted it; the operator has installed the others */
  readonly source: 'project' | 'server';
};

/** What agents read. Depends only on the accepted content, so that vendors can cache the prompt. */
export type ProjectContent = {
  readonly instructions: readonly { readonly path: string; readonly text: string }[];
  /** by name, without duplicates */
  readonly skills: readonly Skill[];
};

/** What a person is asked, per file. */
export type ProjectQuestion = {
  readonly path: string;
  readonly hash: string;
  /** the content, or its difference to the version that was accepted before */
  readonly text: string;
  readonly isDiff: boolean;
};

/**
 * Content of a repository becomes instructions only after a person has accepted it. A decision is about the hash of one file, for
 * one owner or for all, and outlives the session.
 */
export interface Project {
  /** loads the body of a skill; offered while there are skills */
  readonly tool: Tool;
  /** The files of the folder, outermost first, and whether they are used. */
  look(place: ProjectPlace): Promise<readonly ProjectFile[]>;
  /** Stores the content that is asked about: exactly that is used if it is accepted. Files that have changed are left out. */
  ask(place: ProjectPlace, files: readonly ProjectFile[]): Promise<readonly ProjectQuestion[]>;
  /** Durable when it resolves. Deciding the same again has no effect. */
  decide(
    place: ProjectPlace,
    files: readonly Pick<ProjectFile, 'path' | 'hash'>[],
    decision: { readonly use: 'used' | 'declined'; readonly by: string; readonly at: number },
  ): Promise<void>;
  /** The accepted content of these files, and the skills of the operator. What is no longer accepted is missing. */
  load(place: ProjectPlace, files: readonly ProjectFile[]): Promise<ProjectContent>;
}
