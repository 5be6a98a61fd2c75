/** The result of one check of `parlance doctor`. */
export type Check = {
  readonly name: string;
  /** `missing`: optional, but recommended */
  readonly state: 'good' | 'missing' | 'bad';
  readonly about: string;
  /** what to do */
  readonly advice?: string;
};
