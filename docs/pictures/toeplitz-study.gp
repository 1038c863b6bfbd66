# Draws toeplitz-study.svg from ../benchmarks/toeplitz-study.csv: `gnuplot toeplitz-study.gp` in this folder.
set terminal svg size 900,480 noenhanced dynamic background rgb 'white' font 'sans-serif,13'
set output 'toeplitz-study.svg'
set logscale xy
set xrange [1.7:120]
set yrange [0.02:3000]
set xtics (2, 5, 10, 50, 100)
set xlabel 'eigenvalues an interval at most'
set ylabel 'seconds, n = 2000'
set key outside right top vertical Left reverse
set border 3
set tics nomirror
set grid ytics lc rgb '#dddddd'
# Commas inside quotes are followed by a space. Fields: n is the fourth, eigenvalues an interval the fifth.
rows(precision, peer) = "< sed 's/, /;/g' ../benchmarks/toeplitz-study.csv | awk -F, '$4 == 2000 && $7 == \"" . precision . "\" && $9 ~ /" . peer . "/ {print $5, $10}'"
$published << EOD
2 1409
100 50.6
EOD
plot $published with linespoints lc rgb '#8c8c8c' pt 7 title 'published code, single, a GPU of its time', \
  rows('s', 'GPU;as published') with linespoints lc rgb '#dd8452' dt 2 pt 6 title 'as published, H200, single', \
  rows('d', 'GPU;as published') with linespoints lc rgb '#dd8452' pt 7 title 'as published, H200, double', \
  rows('d', 'GPU;published choices') with linespoints lc rgb '#8172b3' pt 7 title 'published choices, our solver, H200, double', \
  rows('d', 'cores;ours') with linespoints lc rgb '#4c72b0' dt 2 pt 6 title 'ours, 2 cores, double', \
  rows('d', 'GPU;ours') with linespoints lc rgb '#4c72b0' pt 7 title 'ours, H200, double'
