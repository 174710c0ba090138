graph [
  directed 1
  node [ id 3 label "C" x 1.5 ]
  node [ id 7 label "O" ]
  edge [ source 3 target 7 label "double" weight 2 ]
]
