export type Goal = {
  readonly goal: string;
  readonly figure: string;
  readonly met: boolean | null;
};

export const NOT_MEASURED = { figure: 'not measured', met: null } as const;
