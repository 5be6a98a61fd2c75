/** The description of a program, for explanations of commands. */
export type Program = {
  readonly does: string;
  readonly flags?: { readonly [flag: string]: string };
  readonly subcommands?: { readonly [name: string]: string };
  /** introduction of the operands */
  readonly targets?: string;
  readonly caution?: string;
};
