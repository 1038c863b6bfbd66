# Draws toeplitz-speedup.svg from ../benchmarks/toeplitz-study.csv: `gnuplot toeplitz-speedup.gp` in this folder.
set terminal svg size 900,420 noenhanced dynamic background rgb 'white' font 'sans-serif,13'
set output 'toeplitz-speedup.svg'
set logscale y
set xrange [550:2050]
set yrange [0.1:200]
set xtics 600, 200, 2000
set xlabel 'n'
set ylabel 'seconds on two cores / seconds on an H200'
set key outside right top vertical Left reverse
set border 3
set tics nomirror
set grid ytics lc rgb '#dddddd'
# Commas inside quotes are followed by a space. Fields: n 4, eigenvalues an interval 5, precision 7, peer 9, median 10.
ratio(precision, peer, m) = "< sed 's/, /;/g' ../benchmarks/toeplitz-study.csv | awk -F, '$5 == " . m . " && $7 == \"" . precision . "\" {if ($9 == \"\\\"cores;" . peer . "\\\"\") a[$4] = $10; if ($9 == \"\\\"GPU;" . peer . "\\\"\") b[$4] = $10} END {for (n in a) if (n in b) print n, a[n] / b[n]}' | sort -n"
plot ratio('s', 'as published', 2) with linespoints lc rgb '#dd8452' pt 7 title 'as published, 2 an interval, single', \
  ratio('s', 'as published', 100) with linespoints lc rgb '#dd8452' dt 2 pt 6 title 'as published, 100 an interval, single', \
  ratio('d', 'ours', 2) with linespoints lc rgb '#4c72b0' pt 7 title 'ours, 2 an interval, double', \
  ratio('d', 'ours', 100) with linespoints lc rgb '#4c72b0' dt 2 pt 6 title 'ours, 100 an interval, double', \
  1.47 with lines lc rgb '#8c8c8c' title 'the published GPU code at best'
