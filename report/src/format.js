// SPDX-License-Identifier: Apache-2.0
// Numbers as the terminal prints them.

/** About four digits: 0.046, 3.46, 123.4, 5000. */
export function number(value) {
  if (value === null || value === undefined) return "-";
  const size = Math.abs(value);
  if (size >= 1000 || Number.isInteger(value)) return value.toFixed(0);
  if (size >= 100) return value.toFixed(1);
  if (size >= 10) return value.toFixed(2);
  return value.toFixed(3);
}

export function interval(metric) {
  const ci = metric.spread.median_ci95;
  return ci ? `${number(ci[0])} to ${number(ci[1])}` : "-";
}

export function paper(values) {
  const one = (p) => `${p.platform} ${number(p.value)}${p.to === undefined ? "" : "-" + number(p.to)}`;
  return values.length ? values.map(one).join(", ") : "-";
}
