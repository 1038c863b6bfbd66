# Draws mimo-nodes.svg from ../benchmarks/mimo-nodes.csv: `gnuplot mimo-nodes.gp` in this folder.
set terminal svg size 760,420 noenhanced dynamic background rgb 'white' font 'sans-serif,13'
set output 'mimo-nodes.svg'
set logscale y
set yrange [0.5:200000]
set xrange [2.5:15]
set xtics ('10' 3, '16' 4, '32' 5, '64' 6, '128' 7, '256' 8, '512' 9, '1024' 10, '2048' 11, '4096' 12, '8192' 13, '16384' 14)
set xlabel 'nodes, from here to the next mark'
set ylabel 'signals of 100,000'
set key top right Left reverse
set border 3
set tics nomirror
set grid ytics lc rgb '#dddddd'
set style fill solid
set boxwidth 0.18
bars(order) = "< awk -F, '$1 == \"" . order . "\" {print log($2) / log(2), $3}' ../benchmarks/mimo-nodes.csv"
plot bars('natural') using ($1 + 0.05):2 with boxes lc rgb '#8c8c8c' title 'natural', \
  bars('gradient') using ($1 + 0.25):2 with boxes lc rgb '#dd8452' title 'gradient', \
  bars('mmse-vblast') using ($1 + 0.45):2 with boxes lc rgb '#4c72b0' title 'mmse-vblast', \
  bars('su-wassell') using ($1 + 0.65):2 with boxes lc rgb '#55a868' title 'su-wassell'
