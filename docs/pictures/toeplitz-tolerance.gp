# Draws toeplitz-found.svg, toeplitz-intervals.svg and toeplitz-attempts.svg from ../benchmarks/toeplitz-tolerance.csv:
# `gnuplot toeplitz-tolerance.gp` in this folder.
set terminal svg size 900,420 noenhanced dynamic background rgb 'white' font 'sans-serif,13'
set logscale x
set xrange [0.2:5e-11]
set xtics ('1e-1' 1e-1, '1e-2' 1e-2, '1e-3' 1e-3, '1e-4' 1e-4, '1e-5' 1e-5, '1e-6' 1e-6, '1e-7' 1e-7, '1e-8' 1e-8, '1e-9' 1e-9, '1e-10' 1e-10)
set xlabel 'tolerance (published: 1e-1)'
set key outside right top vertical Left reverse
set border 3
set tics nomirror
set grid ytics lc rgb '#dddddd'
# Commas inside quotes are followed by a space. Fields: precision 7, peer 9, found 14, tolerance 32, right 33, intervals 35,
# converged 36, relaunched 37, mean attempts 38.
where = 'GPU'
rows(precision, peer, y) = "< sed 's/, /;/g' ../benchmarks/toeplitz-tolerance.csv | awk -F, '$7 == \"" . precision . "\" && $9 == \"\\\"" . where . ";" . peer . "\\\"\" {print $32, $" . y . "}'"

set output 'toeplitz-found.svg'
set ylabel '% of the eigenvalues found, and right'
set yrange [0:105]
plot rows('d', 'cauchy', 33) with linespoints lc rgb '#4c72b0' pt 7 title 'our solver, double', \
  rows('d', 'levinson', 33) with linespoints lc rgb '#dd8452' pt 7 title 'Levinson, double', \
  rows('s', 'cauchy', 33) with linespoints lc rgb '#4c72b0' dt 2 pt 6 title 'our solver, single', \
  rows('s', 'levinson;counts by cauchy', 33) with linespoints lc rgb '#8172b3' dt 2 pt 6 title 'Levinson, our counts, single', \
  rows('s', 'levinson', 33) with linespoints lc rgb '#dd8452' dt 2 pt 6 title 'Levinson, single (as published)'

set output 'toeplitz-intervals.svg'
set ylabel 'intervals'
set yrange [0:*]
plot rows('d', 'levinson', 35) with linespoints lc rgb '#8c8c8c' pt 7 title 'all, double', \
  rows('d', 'levinson', 36) with linespoints lc rgb '#55a868' pt 7 title 'converged, double', \
  rows('d', 'levinson', 37) with linespoints lc rgb '#c44e52' pt 7 title 'relaunched, double', \
  rows('s', 'levinson', 35) with linespoints lc rgb '#8c8c8c' dt 2 pt 6 title 'all, single', \
  rows('s', 'levinson', 36) with linespoints lc rgb '#55a868' dt 2 pt 6 title 'converged, single', \
  rows('s', 'levinson', 37) with linespoints lc rgb '#c44e52' dt 2 pt 6 title 'relaunched, single'

set output 'toeplitz-attempts.svg'
set ylabel 'shifts tried in an interval, mean'
set yrange [0.8:5.2]
plot rows('d', 'cauchy', 38) with linespoints lc rgb '#4c72b0' pt 7 title 'our solver, double', \
  rows('d', 'levinson', 38) with linespoints lc rgb '#dd8452' pt 7 title 'Levinson, double', \
  rows('s', 'cauchy', 38) with linespoints lc rgb '#4c72b0' dt 2 pt 6 title 'our solver, single', \
  rows('s', 'levinson', 38) with linespoints lc rgb '#dd8452' dt 2 pt 6 title 'Levinson, single (as published)'
