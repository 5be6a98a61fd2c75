/** A table of the benchmark: a list of jobs, each measured by its own process. */
export type Figure = number | string | boolean | null;
export type Figures = Readonly<Record<string, Figure>>;

/** One row: the subject and its size. */
export type Job = {
  readonly table: string;
  readonly subject: string;
  readonly size: number;
  readonly quick: boolean;
  /** folder with the version of Parlance to measure; this one if absent */
  readonly checkout?: string;
};

export type Outcome = {
  readonly figures: Figures | null;
  /** why there are no figures */
  readonly absent: string | null;
};

/** The exit code of a cancelled job. */
export const ENDED_EARLY = 143;

export type Column = {
  readonly key: string;
  readonly title: string;
  /** decimals of a number */
  readonly digits?: number;
};

export type Progress = (text: string) => void;

export type Table = {
  readonly name: string;
  readonly title: string;
  /** what `size` counts */
  readonly unit: string;
  readonly columns: readonly Column[];
  jobs(quick: boolean): readonly Omit<Job, 'table' | 'quick'>[];
  /** Throws `Absent` if the subject cannot be measured here. */
  measure(job: Job, progress: Progress): Promise<Figures>;
  /**
   * Jobs for which `takes` returns true are measured in one process, in alternating rounds; one outcome per
   * job, in order.
   */
  readonly together?: {
    takes(job: Pick<Job, 'subject'>): boolean;
    measure(jobs: readonly Job[], progress: Progress): Promise<readonly Outcome[]>;
  };
  /** Compares parts of one checkout, so `--against` leaves it out. */
  readonly withinCheckout?: boolean;
  /** Adds figures that need other rows of the table. */
  derive?(rows: readonly Row[]): readonly Row[];
};

export type Row = Job &
  Outcome & {
    /** processor, cores, versions and date of the measurement */
    readonly measuredOn: string;
  };

export const across = (
  subjects: readonly string[],
  sizes: readonly number[],
): { subject: string; size: number }[] =>
  sizes.flatMap((size) => subjects.map((subject) => ({ subject, size })));
